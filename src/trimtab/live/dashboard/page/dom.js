// Makes and updates elements. Values from outside become text or attributes, never markup.
const SVG = "http://www.w3.org/2000/svg";

export const byId = (id) => document.getElementById(id);

/** An element with attributes (a leading "on" is a listener, null is left out) and children, text included. */
export const element = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);

/** The same for a part of a drawing. */
export const shape = (tag, attributes = {}, ...children) =>
  fill(document.createElementNS(SVG, tag), attributes, children);

const fill = (node, attributes, children) => {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") node.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined) node.setAttribute(name, String(value));
  }
  node.append(...children);
  return node;
};

/** Changes a text only where it differs: a selection stays, and a screen reader has nothing to say twice. */
export const setText = (node, text) => {
  if (node.textContent !== text) node.textContent = text;
};

export const setAttribute = (node, name, value) => {
  if (node.getAttribute(name) !== String(value)) node.setAttribute(name, String(value));
};

/**
 * One child of `parent` for each item, in their order. A child stays while its key stays, so that focus and open
 * details survive; `make(item)` gives a new one, `update(child, item)` brings any up to date.
 */
export const keyed = (parent, items, keyOf, make, update = () => {}) => {
  const before = new Map([...parent.children].map((child) => [child.dataset.key, child]));
  let place = parent.firstElementChild;
  for (const item of items) {
    const key = String(keyOf(item));
    let child = before.get(key);
    before.delete(key);
    if (!child) {
      child = make(item);
      child.dataset.key = key;
    }
    if (child === place) place = place.nextElementSibling;
    else parent.insertBefore(child, place);
    update(child, item);
  }
  before.forEach((child) => child.remove());
};

/** Rows of a table body; each cell is a text or a node. The first is the row's heading. */
export const cells = (row, contents) => {
  contents.forEach((content, index) => {
    const cell = row.cells[index] || row.appendChild(element(index ? "td" : "th", index ? {} : { scope: "row" }));
    if (content instanceof Node) cell.replaceChildren(content);
    else setText(cell, content);
  });
};

/** Terms and texts of a description list. */
export const definitions = (list, entries) =>
  keyed(
    list,
    entries,
    ([term]) => term,
    ([term]) => element("div", {}, element("dt", {}, term), element("dd")),
    (child, [, text]) => setText(child.lastElementChild, text),
  );

/** The choices of a select; what a person chose stays while it is still among them. */
export const options = (select, names, labels = names) => {
  const key = names.join("\n");
  if (select.dataset.names === key) return;
  select.dataset.names = key;
  const chosen = select.value;
  select.replaceChildren(...names.map((name, index) => element("option", { value: name }, labels[index])));
  if (names.includes(chosen)) select.value = chosen;
};
