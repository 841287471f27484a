/* eslint-disable no-unused-expressions -- the file is one function, which page-scripts.ts hands to the browser */
// Where to press an element: the middle of its first box, scrolled into view if it has left it. Null when the element is gone.
(element) => {
  if (!element.isConnected) return null;
  const middle = () => {
    const box = element.getClientRects()[0];
    return box === undefined ? null : { x: box.left + box.width / 2, y: box.top + box.height / 2 };
  };
  const isInside = (point) => point.x >= 0 && point.y >= 0 && point.x < innerWidth && point.y < innerHeight;
  let point = middle();
  if (point !== null && !isInside(point)) {
    element.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
    point = middle();
  }
  if (point === null || !isInside(point)) return null;
  const hit = document.elementFromPoint(point.x, point.y);
  return {
    ...point,
    isIntercepted: hit !== null && !element.contains(hit),
    tag: element.tagName.toLowerCase(),
    type: String(element.type ?? ""),
    isEditable: element.isContentEditable === true,
  };
};
