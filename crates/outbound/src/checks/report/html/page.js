"use strict";
(() => {
  const CLASSES = ["4xx", "5xx", "error", "3xx", "2xx"];
  const MEANINGS = {
    301: "moved for good", 302: "moved for now", 303: "see other", 304: "not modified", 307: "moved for now",
    308: "moved for good", 400: "bad request", 401: "asks for a login", 403: "forbidden", 404: "not found",
    410: "gone", 429: "too many requests", 500: "server error", 502: "bad gateway", 503: "not available",
    504: "gateway timeout",
  };
  const CHANGES = { broke: "broke", healed: "healed", new: "new" };
  const PIECE = 200;
  const PRINTED = 2000;

  const report = JSON.parse(document.getElementById("report").textContent);
  const number = (n) => n.toLocaleString("en");
  const by = (selector) => document.querySelector(selector);
  const rows = report.rows.map(([rule, locale, id, path, status, detail, change, title, admin], at) => {
    const [type, template] = report.rules[rule];
    const kind = classOf(status);
    const faults = (report.faults && report.faults[at]) || [];
    const text = [path, readable(path), id, report.locales[locale], status || "", detail, type, template, title, ...faults.flat()].join("\n").toLowerCase();
    return { rule, type, template, locale: report.locales[locale], id, path, status, detail, change, title, admin, kind, faults, text };
  });
  const buttons = [...document.querySelectorAll(".classes button")];
  const names = Object.fromEntries(buttons.map((button) => [button.dataset.kind, button.dataset.name]));
  const [select, changes, fault, input] = [by("#rule"), by("#change"), by("#fault"), by("#text")];
  let found = [];
  let drawn = 0;
  let body = null;

  function classOf(status) {
    const kind = `${Math.floor(status / 100)}xx`;
    return CLASSES.includes(kind) ? kind : "error";
  }

  function make(tag, name, text) {
    const element = document.createElement(tag);
    if (name) element.className = name;
    if (text !== undefined) element.textContent = text;
    return element;
  }

  /** A link, unless the address is none of the web. */
  function link(address, base, text) {
    let url = null;
    try { url = new URL(address, base); } catch { /* not an address */ }
    if (!url || !["http:", "https:"].includes(url.protocol)) return make("span", "", text);
    const anchor = make("a", "", text);
    anchor.href = url.href;
    anchor.target = "_blank";
    anchor.rel = "noopener noreferrer";
    return anchor;
  }

  /** The path as people write it, if nothing in it could mislead. */
  function readable(path) {
    try {
      const text = decodeURI(path);
      return /[\p{C}\p{Z}]/u.test(text) ? path : text;
    } catch {
      return path;
    }
  }

  const group = (row) => `${row.kind} ${row.rule}`;

  function heading(row) {
    const line = make("tr", `group ${tone(row.kind)}`);
    const cell = make("th");
    cell.colSpan = 3;
    cell.scope = "rowgroup";
    const count = number(found.counts.get(group(row)));
    cell.append(make("span", "kind", `${row.kind} ${names[row.kind]}`), `${row.type} `,
      make("span", "template", row.template), make("span", "soft", ` · ${count}`));
    line.append(cell);
    return line;
  }

  const tone = (kind) => (kind === "error" ? kind : `c${kind}`);

  function line(row) {
    const tr = make("tr", tone(row.kind));
    const status = make("td", "status");
    status.append(make("span", "badge", row.status ? String(row.status) : "no response"));
    if (row.change) status.append(make("span", "change", CHANGES[row.change]));
    const means = row.status ? MEANINGS[row.status] : row.detail;
    if (means) status.append(make("span", "means", means));
    for (const [name, about] of row.faults) status.append(make("span", "means", about ? `${name}: ${about}` : name));
    const url = make("td", "url");
    const address = row.path.startsWith("/") ? report.base + row.path : row.path;
    url.append(link(address, undefined, readable(row.path)));
    if (row.status && row.detail) {
      const target = make("span", "target", "→ ");
      target.append(link(row.detail, address, row.detail));
      url.append(target);
    }
    const owner = make("td", "document");
    if (row.title) owner.append(make("span", "title", row.title));
    owner.append(make("code", "", row.id), make("span", "means", row.locale));
    if (row.admin) owner.append(link(row.admin, undefined, "Edit in the CMS"));
    tr.append(status, url, owner);
    return tr;
  }

  function draw(count) {
    const end = Math.min(found.length, drawn + count);
    const fragment = document.createDocumentFragment();
    for (; drawn < end; drawn += 1) {
      const [row, before] = [found[drawn], found[drawn - 1]];
      if (!before || group(before) !== group(row)) fragment.append(heading(row));
      fragment.append(line(row));
    }
    body.append(fragment);
    by(".more").hidden = drawn === found.length;
  }

  function press(wanted) {
    for (const button of buttons) {
      button.setAttribute("aria-pressed", String(!button.disabled && wanted(button)));
    }
  }

  const pressed = () => buttons.filter((button) => button.getAttribute("aria-pressed") === "true")
    .map((button) => button.dataset.kind);

  function filter() {
    const kinds = new Set(pressed());
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    const [type, rule] = select.value.split(" ");
    found = rows.filter((row) => kinds.has(row.kind)
      && (!type || row.type === type) && (!rule || row.rule === Number(rule))
      && (!changes || !changes.value || row.change === changes.value)
      && (!fault || !fault.value || row.faults.some(([name]) => name === fault.value))
      && words.every((word) => row.text.includes(word)));
    found.counts = new Map();
    for (const row of found) found.counts.set(group(row), (found.counts.get(group(row)) || 0) + 1);
    const old = by(".list tbody");
    body = make("tbody");
    old.replaceWith(body);
    drawn = 0;
    draw(PIECE);
    by(".card.found").hidden = found.length === 0;
    by(".empty").hidden = found.length > 0;
    by(".shown").textContent = `${number(found.length)} of ${number(rows.length)} URLs`;
    const filters = [pressed().join(", ") || "no class"];
    if (type) filters.push(select.selectedOptions[0].textContent.trim());
    if (changes && changes.value) filters.push(CHANGES[changes.value]);
    if (fault && fault.value) filters.push(fault.value);
    if (words.length) filters.push(`with “${input.value.trim()}”`);
    by(".filter").textContent = `Shown: ${filters.join("; ")}`;
  }

  function options() {
    const types = new Map();
    report.rules.forEach(([type, template], rule) => {
      if (!types.has(type)) types.set(type, []);
      types.get(type).push([rule, template]);
    });
    for (const [type, templates] of types) {
      const whole = new Option(type, type);
      select.append(whole);
      if (templates.length === 1) whole.textContent = `${type}  ${templates[0][1]}`;
      else for (const [rule, template] of templates) select.append(new Option(`\u00a0\u00a0${template}`, `${type} ${rule}`));
    }
  }

  for (const element of document.querySelectorAll("[data-number]")) {
    element.textContent = number(Number(element.textContent));
  }
  for (const button of buttons) {
    button.addEventListener("click", () => {
      button.setAttribute("aria-pressed", String(button.getAttribute("aria-pressed") !== "true"));
      filter();
    });
  }
  by(".reset").addEventListener("click", () => {
    input.value = "";
    select.value = "";
    if (changes) changes.value = "";
    if (fault) fault.value = "";
    press((button) => button.dataset.first === "true");
    filter();
  });
  let pause = 0;
  input.addEventListener("input", () => {
    clearTimeout(pause);
    pause = setTimeout(filter, 120);
  });
  select.addEventListener("change", filter);
  if (changes) {
    changes.addEventListener("change", () => {
      // What healed is in a class that is not shown at first.
      if (changes.value) press(() => true);
      filter();
    });
  }
  if (fault) {
    fault.addEventListener("change", () => {
      // Faulty pages answer 200, a class that is not shown at first.
      if (fault.value) press(() => true);
      filter();
    });
  }
  by(".more").addEventListener("click", () => draw(PIECE));
  new IntersectionObserver((seen) => {
    if (seen.some((one) => one.isIntersecting)) draw(PIECE);
  }, { rootMargin: "600px" }).observe(by(".more"));
  addEventListener("beforeprint", () => {
    if (drawn < PRINTED) draw(PRINTED - drawn);
    const rest = found.length - drawn;
    by(".rest").textContent = rest > 0 ? `${number(rest)} more are not printed: filter for fewer.` : "";
  });
  options();
  by("#list").hidden = false;
  filter();
})();
