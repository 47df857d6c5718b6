// Keeps a page up to date: listens to the server, asks for the page again when something has
// changed, and puts the changed parts in. Also shows long tables a window at a time.
"use strict";
(() => {
  const main = document.getElementById("main");
  const status = document.getElementById("connection");
  const parts = "section[id], .title";
  // What the server sent of each part; scripts change the parts themselves.
  const sent = new Map();
  const remember = (root) => root.querySelectorAll(parts).forEach((part, place) =>
    sent.set(part.id || `part-${place}`, part.outerHTML));
  remember(main);
  let address = location.href;
  // On a narrow screen the links scroll sideways.
  const present = document.querySelector('nav [aria-current="page"]');
  if (present) {
    const links = present.parentElement;
    links.scrollLeft = present.offsetLeft - links.offsetLeft - (links.clientWidth - present.offsetWidth) / 2;
  }

  function say(words) {
    if (status.textContent !== words) status.textContent = words;
  }

  // Where the reader is inside a part that is about to be replaced.
  function placeOf(part) {
    const focused = part.contains(document.activeElement) ? document.activeElement : null;
    const fields = [...part.querySelectorAll("input[id], select[id]")]
      .map((field) => [field.id, field.type === "checkbox" ? field.checked : field.value, field.type]);
    return {
      focus: focused && (focused.id || focused.getAttribute("href")),
      open: [...part.querySelectorAll("details")].map((own) => own.open),
      scrolled: [...part.querySelectorAll(".scroll, pre, .choices")].map((own) =>
        [own.scrollLeft, own.scrollTop, own.scrollHeight - own.scrollTop - own.clientHeight < 8]),
      boxes: [...part.querySelectorAll('input[type="checkbox"][name="c"]')].map((own) => own.checked),
      fields,
    };
  }

  function restore(part, place) {
    part.querySelectorAll("details").forEach((own, index) => {
      if (place.open[index]) own.open = true;
    });
    place.fields.forEach(([id, value, kind]) => {
      const field = document.getElementById(id);
      if (!field || field.type === "hidden") return;
      if (kind === "checkbox") field.checked = value;
      else field.value = value;
    });
    part.querySelectorAll('input[type="checkbox"][name="c"]').forEach((own, index) => {
      if (index < place.boxes.length) own.checked = place.boxes[index];
    });
    part.querySelectorAll(".scroll, pre, .choices").forEach((own, index) => {
      const before = place.scrolled[index];
      if (!before) return;
      own.scrollLeft = before[0];
      // Who reads the end of an output goes on reading its end.
      own.scrollTop = before[2] && own.matches("pre.tail") ? own.scrollHeight : before[1];
    });
    if (!place.focus) return;
    const again = document.getElementById(place.focus)
      ?? [...part.querySelectorAll("a")].find((own) => own.getAttribute("href") === place.focus);
    again?.focus({ preventScroll: true });
  }

  function putIn(fresh) {
    const data = fresh.getElementById("report-data");
    const own = document.getElementById("report-data");
    if (data && own) own.textContent = data.textContent;
    else if (data) main.append(document.importNode(data, true));
    const theirs = [...fresh.getElementById("main").querySelectorAll(parts)]
      .filter((part) => !part.parentElement.closest(parts));
    const ours = new Map([...main.querySelectorAll(parts)]
      .filter((part) => !part.parentElement.closest(parts))
      .map((part, place) => [part.id || `part-${place}`, part]));
    let after = null;
    theirs.forEach((part, place) => {
      const id = part.id || `part-${place}`;
      const text = part.outerHTML;
      const before = ours.get(id);
      ours.delete(id);
      if (before && sent.get(id) === text) {
        after = before;
        return;
      }
      sent.set(id, text);
      const table = before?.querySelector(".virtual.ready");
      if (table && part.querySelector(".virtual")) {
        renewTable(before, part, table);
        after = before;
        return;
      }
      const adopted = document.importNode(part, true);
      const was = before && placeOf(before);
      if (before) before.replaceWith(adopted);
      else if (after) after.after(adopted);
      else main.prepend(adopted);
      if (was) restore(adopted, was);
      after = adopted;
    });
    ours.forEach((part) => part.remove());
    main.dataset.version = fresh.getElementById("main").dataset.version ?? "";
    // Pages that had no chart before have no script that draws them yet.
    globalThis.trainwrightReport?.show();
    document.querySelectorAll(".virtual:not(.ready)").forEach(virtual);
  }

  let wanted = main.dataset.version;
  let asking = false;
  let later = 0;

  async function catchUp() {
    if (asking || wanted === main.dataset.version || document.hidden) return;
    asking = true;
    clearTimeout(later);
    try {
      const answer = await fetch(address, { cache: "no-cache", credentials: "same-origin" });
      if (answer.redirected && new URL(answer.url).pathname === "/login") return location.reload();
      if (answer.ok) putIn(new DOMParser().parseFromString(await answer.text(), "text/html"));
    } catch {
      say("The server does not answer; this page goes on by itself when it does.");
    } finally {
      asking = false;
    }
    // An analysis may need longer than the trials that it is about.
    if (wanted !== main.dataset.version) later = setTimeout(catchUp, 1000);
  }

  function listen() {
    if (!main.dataset.events || !globalThis.EventSource) return;
    const source = new EventSource(main.dataset.events);
    source.addEventListener("version", (event) => {
      wanted = event.data;
      say("Live");
      catchUp();
    });
    source.addEventListener("error", () => {
      say("The server does not answer; this page goes on by itself when it does.");
      // A browser gives up after an answer that is no stream, such as one of a proxy.
      if (source.readyState === EventSource.CLOSED) setTimeout(listen, 3000);
      if (source.readyState === EventSource.CLOSED) source.close();
    });
    addEventListener("pagehide", () => source.close(), { once: true });
  }
  addEventListener("pageshow", (event) => event.persisted && listen());
  document.addEventListener("visibilitychange", catchUp);

  // Long tables: only rows in sight are in the page, the others are asked for when needed.
  const CHUNK = 100;
  const tables = new WeakMap();

  function virtual(box) {
    const table = box.querySelector("table");
    const body = table.tBodies[0];
    const own = { chunks: new Map(), rows: Number(box.dataset.rows), shown: null, asked: new Set() };
    const from = Number(box.dataset.from);
    const first = [...body.rows].map((row) => row.outerHTML);
    if (own.rows <= first.length && own.rows <= CHUNK) return;
    for (let at = 0; at + CHUNK <= first.length || (at < first.length && from + first.length === own.rows); at += CHUNK) {
      if ((from + at) % CHUNK === 0) own.chunks.set((from + at) / CHUNK, first.slice(at, at + CHUNK));
    }
    tables.set(box, own);
    // Widths stay as they are while rows come and go.
    [...table.tHead.rows[0].cells].forEach((cell) => {
      cell.style.minWidth = `${Math.ceil(cell.getBoundingClientRect().width)}px`;
    });
    box.classList.add("ready");
    own.height = body.rows[0]?.getBoundingClientRect().height || 34;
    let waiting = false;
    box.addEventListener("scroll", () => {
      if (waiting) return;
      waiting = true;
      requestAnimationFrame(() => {
        waiting = false;
        show(box);
      });
    }, { passive: true });
    new ResizeObserver(() => show(box)).observe(box);
    if (from) box.scrollTop = from * own.height;
    show(box, true);
  }

  function gap(height, columns) {
    const row = document.createElement("tr");
    row.className = "gap";
    row.setAttribute("aria-hidden", "true");
    const cell = document.createElement("td");
    cell.colSpan = columns;
    cell.style.height = `${height}px`;
    row.append(cell);
    row.style.height = `${height}px`;
    return row;
  }

  function show(box, anew = false) {
    const own = tables.get(box);
    const table = box.querySelector("table");
    const body = table.tBodies[0];
    const columns = table.tHead.rows[0].cells.length;
    const over = 12;
    const start = Math.max(0, Math.floor(box.scrollTop / own.height) - over);
    const end = Math.min(own.rows, Math.ceil((box.scrollTop + box.clientHeight) / own.height) + over);
    const needed = [];
    for (let chunk = Math.floor(start / CHUNK); chunk * CHUNK < end; chunk += 1) {
      if (!own.chunks.has(chunk)) needed.push(chunk);
    }
    needed.forEach((chunk) => ask(box, own, chunk));
    const mark = `${start}-${end}-${needed.join()}-${own.rows}`;
    if (!anew && own.shown === mark) return;
    own.shown = mark;
    const focused = body.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
    let markup = "";
    for (let row = start; row < end; row += 1) {
      markup += own.chunks.get(Math.floor(row / CHUNK))?.[row % CHUNK]
        ?? `<tr aria-rowindex="${row + 2}"><td colspan="${columns}" class="quiet">…</td></tr>`;
    }
    const holder = document.createElement("template");
    holder.innerHTML = `<table><tbody>${markup}</tbody></table>`;
    const rows = holder.content.querySelector("tbody")?.childNodes ?? [];
    body.replaceChildren(gap(start * own.height, columns), ...rows, gap((own.rows - end) * own.height, columns));
    if (focused) [...body.querySelectorAll("a")].find((link) => link.getAttribute("href") === focused)?.focus({ preventScroll: true });
  }

  async function ask(box, own, chunk) {
    if (own.asked.has(chunk)) return;
    own.asked.add(chunk);
    const sign = box.dataset.source.includes("?") ? "&" : "?";
    try {
      const answer = await fetch(`${box.dataset.source}${sign}from=${chunk * CHUNK}&count=${CHUNK}`, { cache: "no-cache" });
      if (!answer.ok) return;
      const holder = document.createElement("template");
      holder.innerHTML = `<table><tbody>${await answer.text()}</tbody></table>`;
      own.chunks.set(chunk, [...holder.content.querySelectorAll("tr")].map((row) => row.outerHTML));
      // A table that has gone far needs no rows that are far away.
      if (own.chunks.size > 60) own.chunks.delete(own.chunks.keys().next().value);
      show(box, true);
    } finally {
      own.asked.delete(chunk);
    }
  }

  // A newer table keeps its place: rows that are known are asked for again, those in sight first.
  function renewTable(before, part, box) {
    const fresh = part.querySelector(".virtual");
    const own = tables.get(box);
    if (fresh.querySelector("thead").textContent !== box.querySelector("thead").textContent) {
      const adopted = document.importNode(part, true);
      before.replaceWith(adopted);
      return;
    }
    const count = before.querySelector("#count");
    const words = part.querySelector("#count").textContent;
    if (count && count.textContent !== words) count.textContent = words;
    own.rows = Number(fresh.dataset.rows);
    box.dataset.rows = fresh.dataset.rows;
    box.querySelector("table").setAttribute("aria-rowcount", String(own.rows + 1));
    const start = Math.floor(Math.max(0, box.scrollTop / own.height - 12) / CHUNK);
    const end = Math.floor((box.scrollTop + box.clientHeight) / own.height + 12) / CHUNK;
    [...own.chunks.keys()].filter((chunk) => chunk < start || chunk > end).forEach((chunk) => own.chunks.delete(chunk));
    for (let chunk = start; chunk <= end && chunk * CHUNK < own.rows; chunk += 1) ask(box, own, chunk);
    show(box, true);
  }

  document.querySelectorAll(".virtual").forEach(virtual);
  document.querySelectorAll("pre.tail").forEach((own) => { own.scrollTop = own.scrollHeight; });
  listen();
})();
