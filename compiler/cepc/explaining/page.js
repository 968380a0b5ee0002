"use strict";
// Everything that is shown is in the page already; this only says what is picked. Names are never put back as markup.
for (const section of document.querySelectorAll(".stream")) {
  const picture = section.querySelector(".picture");
  const said = section.querySelector("output");
  const nothing = said.textContent;
  const queries = [...section.querySelectorAll("details.query")];
  const parts = [...section.querySelectorAll("[data-part]")];
  const drawn = [...picture.querySelectorAll("[data-queries]")];
  const words = (element, name) => (element.dataset[name] || "").split(" ").filter(Boolean);

  // Scrolls the box around the element alone, not the page under the reader's eyes.
  function reveal(element, box) {
    if (!element) return;
    const inner = element.getBoundingClientRect();
    const outer = box.getBoundingClientRect();
    if (inner.top < outer.top || inner.bottom > outer.bottom) box.scrollTop += inner.top - outer.top - outer.height / 3;
    if (inner.left < outer.left || inner.right > outer.right) box.scrollLeft += inner.left - outer.left - outer.width / 3;
  }

  function show(isOn, text) {
    const any = isOn !== null;
    picture.classList.toggle("picked", any);
    for (const element of drawn) element.classList.toggle("on", any && isOn(element));
    said.textContent = text;
  }

  function clear() {
    for (const element of [...queries, ...parts]) element.classList.remove("on");
    show(null, nothing);
  }

  function pickQueries(names, text) {
    clear();
    const wanted = new Set(names);
    for (const query of queries) query.classList.toggle("on", wanted.has(query.dataset.query));
    show((element) => words(element, "queries").some((name) => wanted.has(name)), text);
  }

  function pickPart(row) {
    clear();
    row.classList.add("on");
    const [, states, names] = row.cells;
    show((element) => words(element, "parts").includes(row.dataset.part), `${states.textContent}\n${names.textContent}`);
    reveal(picture.querySelector(".node.on"), picture.parentElement);
  }

  function pickNode(node) {
    const names = words(node, "queries");
    pickQueries(names, node.querySelector("title").textContent);
    if (names.length === 1) {
      const query = queries.find((one) => one.dataset.query === names[0]);
      for (const other of queries) other.open = other === query;
      reveal(query, query.parentElement);
    }
  }

  const onPress = (element, act) => {
    element.addEventListener("click", () => act(element));
    element.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      act(element);
    });
  };
  for (const node of picture.querySelectorAll(".node")) onPress(node, pickNode);
  for (const row of parts) onPress(row, pickPart);
  for (const query of queries) {
    query.querySelector("summary").addEventListener("click", () => {
      if (query.open) return clear();
      pickQueries([query.dataset.query], query.querySelector("summary").textContent);
      reveal(picture.querySelector(".node.query.on"), picture.parentElement);
    });
  }

  section.querySelector("[type=search]").addEventListener("input", (event) => {
    const wanted = event.target.value.toLowerCase();
    for (const query of queries) query.hidden = !query.querySelector("summary").textContent.toLowerCase().includes(wanted);
  });

  const { width, height } = picture.viewBox.baseVal;
  let scale = 1;
  for (const button of section.querySelectorAll("[data-zoom]")) {
    button.addEventListener("click", () => {
      const by = button.dataset.zoom;
      scale = by === "fit" ? Math.min(picture.parentElement.clientWidth / width, 1) : Math.min(Math.max(scale * by, 0.1), 4);
      picture.setAttribute("width", width * scale);
      picture.setAttribute("height", height * scale);
    });
  }
  section.querySelector("[data-clear]").addEventListener("click", clear);
  document.addEventListener("keydown", (event) => event.key === "Escape" && clear());

  // page.html#NAME shows a query, so that one can be pointed at.
  const asked = decodeURIComponent(location.hash.slice(1));
  const found = queries.find((query) => asked && query.querySelector("summary").textContent === asked);
  if (found) {
    found.querySelector("summary").click();
    reveal(found, found.parentElement);
  }
}
