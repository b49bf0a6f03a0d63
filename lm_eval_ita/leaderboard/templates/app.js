// Runs once, when the component is there. `element` holds the view, `trigger` asks the server for another one.
const DELAY = 200;
const KEPT = /^__/; // Gradio's own parameters: the theme, and a Space's signature
let timer = 0, asked = 0, answered = 0, tab = "", columnsOpen = false, byLink = false;

const withKept = (query) => {
  const params = new URLSearchParams(query);
  for (const [name, value] of new URLSearchParams(location.search)) if (KEPT.test(name)) params.set(name, value);
  return params.toString();
};
const ask = (query) => {
  element.setAttribute("aria-busy", "true");
  trigger("view", { query, number: ++asked });
};
const go = (query, isNew) => {
  const kept = withKept(query);
  history[isNew ? "pushState" : "replaceState"](null, "", kept ? `?${kept}` : location.pathname);
  ask(query);
};
const own = () => {
  const params = new URLSearchParams(location.search);
  for (const name of [...params.keys()]) if (KEPT.test(name)) params.delete(name);
  return params.toString();
};

element.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-view]");
  if (link && !event.defaultPrevented && event.button === 0 && !(event.metaKey || event.ctrlKey || event.shiftKey || event.altKey)) {
    event.preventDefault();
    byLink = true;
    go(link.getAttribute("href").slice(1), true);
    return;
  }
  const more = event.target.closest("button[data-more]");
  // Kept outside of what the server draws, so that a new view does not close the filters on a phone.
  if (more) more.setAttribute("aria-expanded", String(element.classList.toggle("filters-open")));
  const copy = event.target.closest("button[data-copy]");
  if (copy) copyLink(copy);
  const columns = event.target.closest("button[data-columns]");
  if (columns) {
    for (const box of columns.form.querySelectorAll('input[type="checkbox"][name="cols"]')) box.checked = columns.dataset.columns === "all";
    send(columns.form);
  }
});
element.addEventListener("keydown", (event) => {
  const button = event.target.closest('a[role="button"]');
  if (button && event.key === " ") {
    event.preventDefault();
    button.click();
  }
});
element.addEventListener("toggle", (event) => { if (event.target.matches("details.columns")) columnsOpen = event.target.open; }, true);

const send = (form) => {
  clearTimeout(timer);
  const params = new URLSearchParams();
  for (const [name, value] of new FormData(form)) if (value !== "" && typeof value === "string") params.append(name, value);
  const boxes = form.querySelectorAll('input[type="checkbox"][name="cols"]');
  // All columns is what no mention of columns means.
  if (boxes.length && [...boxes].every((box) => box.checked)) params.delete("cols");
  go(params.toString(), false);
};
element.addEventListener("input", (event) => {
  const form = event.target.closest("form[data-filters]");
  if (!form) return;
  clearTimeout(timer);
  const isTyped = event.target.matches('input[type="search"], input[type="number"]');
  timer = setTimeout(() => send(form), isTyped ? DELAY : 0);
});
element.addEventListener("submit", (event) => {
  event.preventDefault();
  if (event.target.matches("form[data-filters]")) send(event.target);
});
addEventListener("popstate", () => ask(own()));

const copyLink = async (button) => {
  const shown = element.querySelector(".ita");
  const params = new URLSearchParams(shown.dataset.query);
  if (!params.has("lang")) params.set("lang", shown.dataset.language);
  const address = `${location.origin}${location.pathname}?${params}`;
  try {
    await navigator.clipboard.writeText(address);
  } catch { // no permission, or no secure connection
    const field = document.createElement("textarea");
    field.value = address;
    document.body.append(field);
    field.select();
    document.execCommand("copy");
    field.remove();
    button.focus();
  }
  const before = button.dataset.text ?? button.textContent;
  button.dataset.text = before;
  button.textContent = shown.dataset.copied;
  setTimeout(() => { button.textContent = before; }, 2000);
};

// The new view is patched into the old one: what a visitor has typed or opened stays, what a link has changed is shown.
const settle = () => {
  const number = Number(element.querySelector("[data-answer]")?.dataset.answer);
  if (number < answered) { // overtaken on its way, and now shown instead of a later view
    ask(own());
    return;
  }
  answered = number;
  // There is a later one to come: this one's filters are not what the visitor has chosen since.
  if (number < asked) return;
  element.removeAttribute("aria-busy");
  const shown = element.querySelector(".ita");
  if (!shown) return;
  for (const box of element.querySelectorAll('input[type="checkbox"]')) box.checked = box.defaultChecked;
  for (const option of element.querySelectorAll("option")) if (option.selected !== option.defaultSelected) option.selected = option.defaultSelected;
  for (const field of element.querySelectorAll('input[type="search"], input[type="number"]')) if (field !== document.activeElement) field.value = field.defaultValue;
  for (const each of element.querySelectorAll("details.columns")) each.open = columnsOpen;
  element.querySelector("button[data-more]")?.setAttribute("aria-expanded", String(element.classList.contains("filters-open")));
  document.documentElement.lang = shown.dataset.language;
  document.title = shown.dataset.title;
  const now = element.querySelector('.tabs a[aria-current="page"]')?.dataset.tab ?? "model";
  if (byLink && now !== tab) {
    scrollTo(0, 0);
    const heading = element.querySelector("h1");
    heading?.setAttribute("tabindex", "-1");
    heading?.focus({ preventScroll: true });
  }
  if (now !== tab) element.querySelector('.tabs a[aria-current="page"]')?.scrollIntoView({ block: "nearest", inline: "nearest" });
  tab = now;
  byLink = false;
};
watch("value", settle);
ask(own());
