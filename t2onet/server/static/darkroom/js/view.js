/* Where the photo lies on the stage: fitted, or zoomed and moved. It knows sizes and pointers, nothing of pictures. */

const MOST = 8;
const NEAR = 1.001;

/** `changed(view)` is called whenever the photo lies otherwise. */
export function view(stage, layers, changed) {
  let photo = null;
  let fitted = true;
  let scale = 1;
  let x = 0;
  let y = 0;
  const pointers = new Map();

  const margin = () => (stage.clientWidth > 600 ? 24 : 0);
  const least = () => Math.min(
    (stage.clientWidth - 2 * margin()) / photo.width, (stage.clientHeight - 2 * margin()) / photo.height, 1,
  );
  const actual = () => 1 / devicePixelRatio;

  function place() {
    if (!photo) return;
    if (fitted) scale = least();
    const [width, height] = [photo.width * scale, photo.height * scale];
    x = held(x, width, stage.clientWidth);
    y = held(y, height, stage.clientHeight);
    for (const one of layers) {
      one.style.width = `${width}px`;
      one.style.height = `${height}px`;
      one.style.transform = `translate(${x}px, ${y}px)`;
      one.style.imageRendering = scale * devicePixelRatio > 2 ? "pixelated" : "auto";
    }
    stage.classList.toggle("zoomed", !fitted);
    changed({
      fitted,
      percent: Math.round(100 * scale * devicePixelRatio),
      left: Math.max(0, x), right: Math.min(stage.clientWidth, x + width),
      top: Math.max(0, y), bottom: Math.min(stage.clientHeight, y + height),
    });
  }

  const held = (at, size, room) => (size <= room ? (room - size) / 2 : Math.min(0, Math.max(room - size, at)));

  function zoomTo(to, point = { x: stage.clientWidth / 2, y: stage.clientHeight / 2 }) {
    if (!photo) return;
    const now = Math.min(Math.max(to, least()), Math.max(MOST * actual(), least()));
    x = point.x - ((point.x - x) * now) / scale;
    y = point.y - ((point.y - y) * now) / scale;
    fitted = now <= least() * NEAR;
    scale = now;
    place();
  }

  const inside = (event) => {
    const box = stage.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };

  const toggle = (point) => zoomTo(fitted ? Math.max(actual(), least() * 2) : least(), point);

  stage.addEventListener("wheel", (event) => {
    event.preventDefault();
    zoomTo(scale * Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : 0.0018)), inside(event));
  }, { passive: false });
  stage.addEventListener("dblclick", (event) => {
    if (event.target.closest(".layer") || event.target === stage) toggle(inside(event));
  });
  stage.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || event.target.closest("button, #divider, #surface")) return;
    pointers.set(event.pointerId, inside(event));
    stage.setPointerCapture(event.pointerId);
    stage.classList.add("held");
  });
  stage.addEventListener("pointermove", (event) => {
    const before = pointers.get(event.pointerId);
    if (!before) return;
    const now = inside(event);
    if (pointers.size === 2) pinch(event.pointerId, before, now);
    else { x += now.x - before.x; y += now.y - before.y; place(); }
    pointers.set(event.pointerId, now);
  });
  for (const ends of ["pointerup", "pointercancel"]) {
    stage.addEventListener(ends, (event) => {
      pointers.delete(event.pointerId);
      stage.classList.toggle("held", pointers.size > 0);
    });
  }

  function pinch(id, before, now) {
    const [, other] = [...pointers].find(([one]) => one !== id);
    const apart = (one) => Math.hypot(one.x - other.x, one.y - other.y) || 1;
    zoomTo((scale * apart(now)) / apart(before), { x: (now.x + other.x) / 2, y: (now.y + other.y) / 2 });
  }

  new ResizeObserver(place).observe(stage);
  return {
    of(shown) { photo = shown; fitted = true; place(); },
    /** The photo was cropped or turned: it is fitted again, unless its size stays. */
    resize(shown) { if (shown.width !== photo?.width || shown.height !== photo?.height) this.of(shown); },
    fit() { if (photo) zoomTo(least()); },
    actual() { zoomTo(actual()); },
    zoom(factor) { zoomTo(scale * factor); },
    toggle: () => toggle(),
    /** Long side of the photo on the screen, in pixels of the screen. */
    get side() { return photo ? Math.max(photo.width, photo.height) * scale * devicePixelRatio : 0; },
  };
}
