"use strict";
(() => {
  // Tables: a click on a column's head sorts by it, within each body; what is missing comes last both ways.
  const number = (text) => {
    const found = /^[(]?[+-]?\d[\d,]*(?:\.\d+)?/.exec(text.trim());
    return found && !/^\d+ of \d+/.test(text.trim()) ? Number(found[0].replace(/[(,]/g, "")) : NaN;
  };
  const compare = (kind, turn) => (a, b) => {
    if (kind === "number") {
      const one = number(a.text), two = number(b.text);
      if (Number.isNaN(one) || Number.isNaN(two)) return Number.isNaN(one) - Number.isNaN(two) || a.place - b.place;
      return turn * (one - two) || a.place - b.place;
    }
    if (!a.text || !b.text) return !a.text - !b.text || a.place - b.place;
    return turn * a.text.localeCompare(b.text, "it", { numeric: true }) || a.place - b.place;
  };
  for (const button of document.querySelectorAll("thead button")) {
    button.addEventListener("click", () => {
      const head = button.closest("th"), table = button.closest("table"), kind = button.dataset.kind;
      // Figures are wanted highest first, names from A.
      const first = kind === "number" ? "descending" : "ascending";
      const other = first === "ascending" ? "descending" : "ascending";
      const order = head.getAttribute("aria-sort") === first ? other : first;
      for (const each of table.querySelectorAll("thead th")) each.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", order);
      const column = Number(button.dataset.column);
      for (const body of table.tBodies) {
        const rows = [...body.rows].map((row, place) => ({ row, place, text: row.cells[column].textContent }));
        rows.sort(compare(kind, order === "ascending" ? 1 : -1));
        body.append(...rows.map(({ row }) => row));
      }
    });
  }

  // What is folded is printed too.
  addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((each) => { each.open = true; }));

  const holder = document.getElementById("viewer-data");
  if (!holder) return;
  const data = JSON.parse(holder.textContent);
  const GOOD = new Set(["right", "no hurtful word"]), BAD = new Set(["wrong", "hurtful word", "unparsable", "error"]);
  const PAGE = 20;
  const text = (index) => data.texts[index];
  const samples = data.samples.map(([model, task, document_, outcome, prompt, answer, gold, about, options]) => ({
    model: data.models[model], task: data.tasks[task], document: document_, outcome,
    prompt: text(prompt), answer: text(answer), gold: text(gold), about: text(about),
    options: options.map(([option, ll, isGold, isChosen]) => ({ text: text(option), ll, isGold, isChosen })),
  }));
  const found = (id) => document.getElementById(id);
  const field = { model: found("viewer-model"), task: found("viewer-task"), outcome: found("viewer-outcome") };
  for (const [name, select] of Object.entries(field)) {
    for (const value of [...new Set(samples.map((sample) => sample[name]))]) select.append(new Option(value, value));
  }
  const words = found("viewer-text"), list = found("viewer-list"), back = found("viewer-back"), next = found("viewer-next");
  let page = 0, shown = samples;

  const element = (tag, className, content) => {
    const made = document.createElement(tag);
    if (className) made.className = className;
    if (content !== undefined) made.textContent = content;  // never markup: answers may hold anything
    return made;
  };
  const drawn = (sample) => {
    const box = element("article", "sample");
    if (GOOD.has(sample.outcome)) box.classList.add("good");
    if (BAD.has(sample.outcome)) box.classList.add("bad");
    const head = element("h3");
    head.append(element("b", "", sample.outcome), ` · ${sample.task} · ${sample.model} · document ${sample.document}`);
    box.append(head);
    if (sample.about) box.append(element("h3", "", sample.about));
    const prompt = element("details");
    const last = sample.prompt.trimEnd().slice(-160).replace(/\s+/g, " ");
    prompt.append(element("summary", "", sample.prompt.length > 160 ? `… ${last}` : last || "(no prompt)"), element("pre", "", sample.prompt));
    box.append(prompt);
    if (sample.options.length) {
      const options = element("ol");
      for (const option of sample.options) {
        const marks = [option.isChosen && "chosen", option.isGold && "gold"].filter(Boolean).join(", ");
        const ll = option.ll === null ? "no value" : option.ll.toFixed(2);
        options.append(element("li", option.isChosen ? "chosen" : "", `${option.text} (${ll}${marks ? "; " + marks : ""})`));
      }
      box.append(options);
    } else {
      const pairs = element("dl");
      pairs.append(element("dt", "", "Answer"), element("dd", "", sample.answer.trim() || "(empty)"));
      if (sample.gold) pairs.append(element("dt", "", "Gold"), element("dd", "", sample.gold));
      box.append(pairs);
    }
    return box;
  };
  const draw = () => {
    const pages = Math.max(1, Math.ceil(shown.length / PAGE));
    page = Math.min(Math.max(page, 0), pages - 1);
    list.replaceChildren(...shown.slice(page * PAGE, (page + 1) * PAGE).map(drawn));
    found("viewer-count").textContent = shown.length === 1 ? "1 sample" : `${shown.length} samples`;
    found("viewer-page").textContent = `page ${page + 1} of ${pages}`;
    back.disabled = page === 0;
    next.disabled = page === pages - 1;
  };
  const plain = (value) => value.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();  // perche finds perché
  for (const sample of samples) {
    sample.searched = plain([sample.prompt, sample.answer, sample.gold, sample.about, ...sample.options.map((option) => option.text)].join("\n"));
  }
  const search = () => {
    const wanted = plain(words.value.trim());
    shown = samples.filter((sample) =>
      Object.entries(field).every(([name, select]) => !select.value || sample[name] === select.value) && sample.searched.includes(wanted));
    page = 0;
    draw();
  };
  for (const control of [...Object.values(field), words]) control.addEventListener("input", search);
  found("viewer-form").addEventListener("submit", (event) => event.preventDefault());
  back.addEventListener("click", () => { page -= 1; draw(); });
  next.addEventListener("click", () => { page += 1; draw(); });
  draw();
})();
