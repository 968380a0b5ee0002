"use strict";
// Everything that is said is in the page already; this draws the graphs and shows what is picked. Names are never put back as markup.
const AIR = 20; // around a graph
const SMALLEST = 0.5; // a scale at which labels are still read
const SMALLEST_IN_HAND = 0.8; // the same on a phone
const NARROW = 500;
const dark = matchMedia("(prefers-color-scheme: dark)");

const measure = document.createElement("canvas").getContext("2d");
const MONO = 'ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace';

const LOOP = 14; // how high a line from a node to itself is
const LINE = 16; // the height of a line, and of a node's first with what is around it
const linesOf = (node) => [node.data("label"), ...node.data("lines")];
const heightOf = (node) => 30 + LINE * node.data("lines").length;

function widthOf(node) {
  measure.font = `${node.hasClass("query") ? 600 : 400} ${node.hasClass("read") ? 11 : 12}px ${MONO}`;
  const widest = Math.max(...linesOf(node).map((line) => measure.measureText(line).width));
  return widest + (node.hasClass("read") ? 8 : 20);
}

// The page's colours, whichever of its two schemes is on.
function style() {
  const css = getComputedStyle(document.documentElement);
  const colour = (name) => css.getPropertyValue(`--${name}`).trim();
  const edge = (selector, line, more) => ({
    selector: `edge${selector}`, style: { "line-color": line, "target-arrow-color": line, ...more },
  });
  return [
    { selector: "node", style: {
      shape: "round-rectangle", "corner-radius": 6, width: widthOf, height: heightOf,
      label: (node) => linesOf(node).join("\n"), "text-wrap": "wrap", "text-max-width": 2000, "line-height": LINE / 12 / 1.17,
      "text-valign": "center", "font-family": MONO, "font-size": 12, "min-zoomed-font-size": 4, color: colour("ink"),
      "background-color": colour("paper"), "border-color": colour("plain"), "border-width": 1.3,
    } },
    { selector: ".accepting", style: { "border-width": 2 } },
    { selector: ".listed", style: { "background-color": colour("ground") } },
    { selector: ".listed, .query", style: { "corner-radius": 15 } },
    { selector: "[fill]", style: { "background-color": "data(fill)", color: "#1c2733" } },
    { selector: "[line]", style: { "border-color": "data(line)" } },
    ...(dark.matches ? [{ selector: "[bright]", style: { "border-color": "data(bright)" } }] : []),
    { selector: ".beside, .basis", style: { "border-width": 3 } },
    { selector: ".basis", style: { "border-style": "dashed", "border-dash-pattern": [5, 3] } },
    { selector: ".large", style: { "border-style": "dashed", "border-dash-pattern": [2, 3] } },
    { selector: ".start", style: { shape: "ellipse", width: 14, height: 14 } },
    { selector: ".query", style: {
      "background-color": colour("pill"), "border-color": colour("pill"), color: colour("on-pill"), "font-weight": 600,
    } },
    { selector: ".not", style: { "border-color": colour("not"), "border-style": "dashed", "border-dash-pattern": [7, 3], color: colour("not") } },
    { selector: ".read", style: {
      "background-opacity": 0, "border-width": 0, height: 14, "font-size": 11, color: colour("soft"),
    } },
    edge("", colour("edge"), {
      "curve-style": "bezier", "control-point-step-size": 28, "target-arrow-shape": "triangle", "arrow-scale": 0.8, width: 1.3,
      label: "data(label)", "font-family": MONO, "font-size": 11, color: colour("soft"), "min-zoomed-font-size": 4,
      "text-background-color": colour("paper"), "text-background-opacity": 1, "text-background-padding": 1,
      "loop-direction": "0deg", "loop-sweep": "-50deg",
    }),
    { selector: "edge.loop", style: { "control-point-step-size": (loop) => 28 + (heightOf(loop.source()) - 30) / 1.9 } },
    edge(".answer", colour("faint"), { "line-style": "dotted", width: 1.8 }),
    edge(".ties", colour("edge"), { "line-style": "dashed", "line-dash-pattern": [4, 3] }),
    edge(".moves", colour("not"), { "line-style": "dashed", "line-dash-pattern": [7, 3] }),
    { selector: "edge.first", style: { "target-arrow-shape": "none" } },
    { selector: "edge.routed", style: {
      "curve-style": "unbundled-bezier", "edge-distances": "node-position",
      "control-point-weights": (line) => line.scratch("way").along,
      "control-point-distances": (line) => line.scratch("way").aside,
    } },
    { selector: ".off", style: { opacity: 0.22 } },
    { selector: "edge.on", style: { width: 1.9 } },
    { selector: ".away", style: { display: "none" } },
    { selector: ".at", style: { "outline-color": colour("accent"), "outline-width": 2, "outline-offset": 3 } },
  ];
}

const drawnAsItIs = (edge) => edge.is(".loop, .there, .back"); // to itself, or to and fro

// As dagre is told them: a label on the way back stands between the two nodes, as one on the way there.
function endsOf(edge) {
  const ends = [edge.source().id(), edge.target().id()];
  return edge.hasClass("backward") ? ends.reverse() : ends;
}

// In layers from left to right. A label stands half-way, so that edges without one are as long as the two halves of others.
function layOut(elements) {
  const graph = new dagre.graphlib.Graph({ multigraph: true });
  graph.setGraph({ rankdir: "LR", nodesep: 24, edgesep: 10, ranksep: 26, ranker: "tight-tree" });
  for (const node of elements.nodes()) {
    const loop = node.edgesTo(node).empty() ? 0 : LOOP;
    graph.setNode(node.id(), { width: node.outerWidth(), height: node.outerHeight() + 2 * loop });
  }
  const edges = elements.edges().not(".back");
  for (const edge of edges) {
    graph.setEdge(...endsOf(edge), { minlen: edge.hasClass("half") ? 1 : 2 }, edge.id());
  }
  dagre.layout(graph);
  for (const node of elements.nodes()) node.position(graph.node(node.id()));
  for (const edge of edges.filter((edge) => !drawnAsItIs(edge))) {
    const { points } = graph.edge(...endsOf(edge), edge.id());
    if (edge.hasClass("backward")) points.reverse();
    edge.scratch("way", wayOf(edge, points.slice(1, -1))).addClass("routed");
  }
}

// As Cytoscape wants it: each point by how far it is along the line between the two nodes, and how far aside of it.
function wayOf(edge, points) {
  const from = edge.source().position();
  const [dx, dy] = [edge.target().position("x") - from.x, edge.target().position("y") - from.y];
  const length = Math.hypot(dx, dy);
  return {
    along: points.map(({ x, y }) => ((x - from.x) * dx + (y - from.y) * dy) / length ** 2),
    aside: points.map(({ x, y }) => ((y - from.y) * dx - (x - from.x) * dy) / length),
  };
}

// What layOut found, to be put back without finding it again.
function remembered(elements) {
  const places = elements.nodes().map((node) => [node, { ...node.position() }]);
  const ways = elements.edges().map((edge) => [edge, edge.scratch("way")]);
  return () => {
    for (const [node, place] of places) node.position(place);
    for (const [edge, way] of ways) edge.scratch("way", way);
  };
}

for (const section of document.querySelectorAll(".stream")) {
  const box = section.querySelector(".graph");
  const said = section.querySelector("output");
  const nothing = said.textContent;
  const only = section.querySelector("[data-only]");
  const queries = [...section.querySelectorAll("details.query")];
  const parts = [...section.querySelectorAll("[data-part]")];
  const windows = [...section.querySelectorAll(".windows")];
  const words = (element, name) => (element.dataset[name] || "").split(" ").filter(Boolean);

  const cy = cytoscape({
    container: box, style: style(), layout: { name: "preset" }, minZoom: 0.05, maxZoom: 3,
    boxSelectionEnabled: false, autounselectify: true, autoungrabify: true,
  });
  const views = [...section.querySelectorAll("[type='application/json']")].map((data) => JSON.parse(data.textContent));
  const legends = section.querySelectorAll("figcaption");
  const other = section.querySelector("[data-view]");
  let back; // to where layOut has put things

  function draw(view) {
    cy.elements().remove();
    cy.add(views[view]);
    layOut(cy.elements());
    back = remembered(cy.elements());
    for (const [number, legend] of legends.entries()) legend.hidden = number !== view;
  }

  draw(0);
  const shown = () => cy.elements().not(".away");
  let picked = new Set(); // queries
  let at = null; // the node that the keyboard has come to

  // ---- what is seen

  // From the top left, as wide as the box and no smaller than can be read; the box is as high as the graph, if the window has room.
  function frame() {
    const room = shown().boundingBox({ includeOverlays: false });
    const scale = Math.min(Math.max((box.clientWidth - 2 * AIR) / room.w, box.clientWidth < NARROW ? SMALLEST_IN_HAND : SMALLEST), 1);
    box.style.height = `${Math.min(Math.max(room.h * scale + 2 * AIR, 160), innerHeight * 0.72)}px`;
    cy.resize();
    cy.zoom(scale);
    cy.pan({ x: AIR - room.x1 * scale, y: AIR - room.y1 * scale });
  }

  // Moves the graph, if it is not all in sight already: to all of it, or else to its first node.
  function reveal(elements) {
    if (elements.empty()) return;
    const sight = cy.extent();
    const isIn = (one) => one.x1 >= sight.x1 && one.x2 <= sight.x2 && one.y1 >= sight.y1 && one.y2 <= sight.y2;
    const room = elements.boundingBox({ includeOverlays: false });
    if (isIn(room)) return;
    const scale = cy.zoom();
    const fits = room.w * scale <= box.clientWidth && room.h * scale <= box.clientHeight;
    if (fits) cy.center(elements);
    else cy.pan({ x: AIR - room.x1 * scale, y: box.clientHeight / 3 - elements.nodes()[0].position("y") * scale });
  }

  // Shadows on the sides where the graph goes on.
  function hint() {
    const room = shown().renderedBoundingBox({ includeOverlays: false });
    const goesOn = { above: room.y1 < 0, below: room.y2 > box.clientHeight, left: room.x1 < 0, right: room.x2 > box.clientWidth };
    for (const [side, more] of Object.entries(goesOn)) box.style.setProperty(`--${side}`, more ? 1 : 0);
  }

  function scrollTo(element) {
    const inner = element.getBoundingClientRect();
    const outer = element.parentElement.getBoundingClientRect();
    if (inner.top < outer.top || inner.bottom > outer.bottom) {
      element.parentElement.scrollTop += inner.top - outer.top - outer.height / 3;
    }
  }

  // ---- what is picked

  function show(names, isOn, text) {
    picked = new Set(names);
    only.disabled = !picked.size;
    cy.batch(() => {
      cy.elements().removeClass("on off");
      if (!isOn) return;
      const on = cy.elements().filter(isOn);
      on.addClass("on");
      cy.elements().not(on).addClass("off");
    });
    for (const row of windows) row.classList.toggle("off", picked.size > 0 && !words(row, "queries").some((name) => picked.has(name)));
    for (const query of queries) query.classList.toggle("on", picked.has(query.dataset.query));
    for (const row of parts) row.classList.remove("on");
    said.textContent = text;
  }

  const isOfPicked = (element) => element.data("queries").some((name) => picked.has(name));

  function pickQueries(names, text) {
    const wanted = new Set(names);
    show(names, (element) => element.data("queries").some((name) => wanted.has(name)), text);
  }

  function pickPart(row) {
    const states = cy.nodes().filter((node) => node.data("parts").includes(row.dataset.part));
    const [, what, names] = row.cells;
    show(words(row, "queries"), (element) => states.contains(element), `${what.textContent}\n${names.textContent}`);
    row.classList.add("on");
    reveal(states);
  }

  function pickNode(node) {
    const names = node.data("queries");
    pickQueries(names, node.data("tip"));
    if (names.length > 1) return;
    const query = queries.find((one) => one.dataset.query === names[0]);
    for (const other of queries) other.open = other === query;
    scrollTo(query);
  }

  function clear() {
    show([], null, nothing);
  }

  function showAll() {
    clear();
    if (shown().length === cy.elements().length) return frame();
    cy.elements().removeClass("away");
    cy.batch(back);
    frame();
  }

  other?.addEventListener("click", () => {
    const states = other.getAttribute("aria-pressed") === "false";
    other.setAttribute("aria-pressed", states);
    clear();
    at = null;
    draw(states ? 1 : 0);
    frame();
  });

  only.addEventListener("click", () => {
    const wanted = cy.elements().filter(isOfPicked);
    cy.elements().addClass("away");
    wanted.removeClass("away off");
    layOut(wanted);
    frame();
  });

  // ---- by mouse and by keyboard

  cy.on("tap", "node", (event) => pickNode(event.target));
  cy.on("tap", (event) => event.target === cy && clear());
  cy.on("mouseover", "node", (event) => { box.title = event.target.data("tip"); });
  cy.on("mouseout", "node", () => { box.title = ""; });

  // The wheel moves the graph as far as it goes, then the page; with Ctrl it changes the size.
  box.addEventListener("wheel", (event) => {
    cy.userZoomingEnabled(event.ctrlKey || event.metaKey);
    if (event.ctrlKey || event.metaKey) return;
    const room = shown().renderedBoundingBox();
    const [x, y] = event.shiftKey ? [event.deltaY, 0] : [event.deltaX, event.deltaY];
    const step = (by, low, high, size) => (by > 0 ? Math.max(Math.min(by, high + AIR - size), 0) : Math.min(Math.max(by, low - AIR), 0));
    const by = { x: -step(x, room.x1, room.x2, box.clientWidth), y: -step(y, room.y1, room.y2, box.clientHeight) };
    if (!by.x && !by.y) return;
    event.preventDefault();
    cy.panBy(by);
  }, { capture: true, passive: false });

  const ARROWS = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] };

  // The nearest node that way; what lies straight ahead before what lies aside.
  function next([right, down]) {
    if (!at || at.hasClass("away")) return shown().nodes()[0];
    const from = at.position();
    let best = at;
    let least = Infinity;
    for (const node of shown().nodes().not(".read")) {
      const [x, y] = [node.position("x") - from.x, node.position("y") - from.y];
      const ahead = x * right + y * down;
      const far = ahead + 3 * Math.abs(x * down + y * right);
      if (ahead > 1 && far < least) [best, least] = [node, far];
    }
    return best;
  }

  function goTo(node) {
    at?.removeClass("at");
    at = node.addClass("at");
    said.textContent = node.data("tip");
    reveal(node);
  }

  box.addEventListener("keydown", (event) => {
    if (event.key in ARROWS) goTo(next(ARROWS[event.key]));
    else if ((event.key === "Enter" || event.key === " ") && at) pickNode(at);
    else return;
    event.preventDefault();
  });
  box.addEventListener("blur", () => at?.removeClass("at"));
  box.addEventListener("focus", () => at?.addClass("at"));

  for (const row of parts) {
    row.addEventListener("click", () => pickPart(row));
    row.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      pickPart(row);
    });
  }
  for (const query of queries) {
    query.querySelector("summary").addEventListener("click", () => {
      if (query.open) return clear();
      pickQueries([query.dataset.query], query.querySelector("summary").textContent);
      reveal(cy.elements(".on"));
    });
  }

  section.querySelector("[type=search]").addEventListener("input", (event) => {
    const wanted = event.target.value.toLowerCase();
    for (const query of queries) query.hidden = !query.querySelector("summary").textContent.toLowerCase().includes(wanted);
  });

  for (const button of section.querySelectorAll("[data-zoom]")) {
    button.addEventListener("click", () => {
      const middle = { x: box.clientWidth / 2, y: box.clientHeight / 2 };
      if (button.dataset.zoom === "fit") cy.fit(shown(), AIR);
      else cy.zoom({ level: cy.zoom() * button.dataset.zoom, renderedPosition: middle });
    });
  }
  section.querySelector("[data-clear]").addEventListener("click", showAll);
  document.addEventListener("keydown", (event) => event.key === "Escape" && clear());
  dark.addEventListener("change", () => cy.style(style()));

  cy.on("viewport resize", hint);
  frame();
  addEventListener("resize", () => cy.resize());

  // page.html#NAME shows a query, so that one can be pointed at.
  const asked = decodeURIComponent(location.hash.slice(1));
  const found = queries.find((query) => asked && query.querySelector("summary").textContent === asked);
  if (found) {
    found.querySelector("summary").click();
    scrollTo(found);
  }
}
