"""Scripts of others, as their npm packages hold them, for the page of `cepc explain`; their licences are beside them.

cytoscape.min.js  cytoscape 3.34.4: draws a graph and lets it be clicked
dagre.min.js      @dagrejs/dagre 3.1.3, with its graphlib: lays a graph out in layers

`npm pack NAME@VERSION` fetches them anew (`package/dist/`).
"""

from __future__ import annotations

from importlib.resources import files
from typing import Final

SCRIPTS: Final = ("cytoscape.min.js", "dagre.min.js")
LICENCES: Final = ("cytoscape", "dagre")


def scripts() -> str:
    """All of them as the text of one `<script>`, under their licences."""
    folder = files(__package__)
    licences = (f"{name}\n\n{folder.joinpath(f'LICENSE.{name}.txt').read_text('utf-8')}" for name in LICENCES)
    texts = (_embedded(folder.joinpath(name).read_text("utf-8")) for name in SCRIPTS)
    return "\n".join(["/*", *licences, "*/", *texts])


def _embedded(script: str) -> str:
    """Without the address of a map that is not there, and with nothing that means something to HTML."""
    lines = [line for line in script.splitlines() if not line.startswith("//# sourceMappingURL=")]
    return "\n".join(lines).replace("\x01", "\\x01").replace("</script", "<\\/script").replace("<!--", "<\\!--")
