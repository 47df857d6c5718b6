// Draws the charts of a report, sorts its tables and switches its tabs. It loads nothing.
// A live page calls `trainwrightReport.show()` again after it has put in newer sections.
"use strict";
(() => {
  const root = document.documentElement;
  const nothing = { charts: {}, resources: [] };
  let data = nothing;
  const drawn = new Map();
  // How wide each chart was when it was drawn.
  const widths = new WeakMap();
  const pen = document.createElement("canvas").getContext("2d");
  // Pixels from one line of a legend to the next.
  const LEGEND_LINE = 21;
  root.classList.remove("no-script");

  const css = (name) => getComputedStyle(root).getPropertyValue(`--${name}`).trim();

  // Colours are written as names such as "$accent", so that they follow the theme.
  function coloured(value, key) {
    if (Array.isArray(value)) return value.map((item) => coloured(item, key));
    if (value && typeof value === "object") {
      return Object.fromEntries(Object.entries(value).map(([name, own]) => [name, coloured(own, name)]));
    }
    return key === "color" && typeof value === "string" && value[0] === "$" ? css(value.slice(1)) : value;
  }

  function shortNumber(value) {
    if (typeof value !== "number") return String(value);
    return String(Number(value.toPrecision(4)));
  }

  // Tooltips are built from text nodes: names come from the user.
  function tooltip(lines) {
    const box = document.createElement("div");
    box.className = "tip";
    lines.forEach((line, index) => {
      const part = document.createElement(index === 0 ? "b" : "div");
      part.textContent = line;
      box.append(part);
    });
    return box;
  }

  function tipLines(item, tips, series) {
    const own = item.data;
    if (own && own.tip) return own.tip.split("\n");
    const [x, y, label] = Array.isArray(own) ? own : item.value;
    const name = label ?? series?.label_of_line ?? item.seriesName;
    return [name, `${tips.x} ${shortNumber(x)}`, `${tips.y} ${shortNumber(y)}`];
  }

  function widthOf(text) {
    pen.font = `12px ${getComputedStyle(document.body).fontFamily}`;
    return pen.measureText(text).width;
  }

  // A text broken between words into lines of so many pixels; charts do not break names of axes.
  function inLines(text, room) {
    if (room <= 0) return text;
    return text.split(" ").reduce((lines, word) => {
      const longer = `${lines.at(-1)} ${word}`;
      return widthOf(longer) > room ? [...lines, word] : [...lines.slice(0, -1), longer];
    }, [""]).map((line) => line.trim()).filter(Boolean).join("\n");
  }

  // Names of all places below an axis, in lines as wide as each has room; upright where that is little.
  function fittedLabels(places, room) {
    const width = (room - 20) / places - 6;
    const all = { interval: 0, hideOverlap: false };
    return width > 40 ? { ...all, width, overflow: "break" } : { ...all, rotate: 90 };
  }

  function axis(own, vertical, room) {
    const text = { color: css("quiet"), fontSize: 12 };
    const fitted = own.fitted ? fittedLabels(own.data.length, room) : {};
    return {
      nameLocation: "middle",
      nameGap: vertical ? 14 : 26,
      nameTextStyle: text,
      ...own,
      name: own.name && !vertical ? inLines(own.name, room - 40) : own.name,
      axisLine: { show: !vertical, lineStyle: { color: css("muted") } },
      axisTick: { show: false },
      axisLabel: { ...text, hideOverlap: true, ...own.axisLabel, ...fitted },
      splitNumber: 4,
      splitLine: { show: own.type !== "category", lineStyle: { color: css("line") } },
    };
  }

  // Lines that a legend takes, as the browser would set them.
  function legendLines({ data, itemWidth, itemGap, type }, room) {
    if (type === "scroll" || room === 0) return 1;
    let lines = 1;
    let used = 0;
    for (const name of data) {
      const own = itemWidth + 5 + widthOf(name);
      if (used > 0 && used + own > room) [lines, used] = [lines + 1, 0];
      used += own + itemGap;
    }
    return lines;
  }

  function complete(stored, room) {
    const { tips, channel, ...option } = coloured(stored, "");
    option.series = option.series.map((series) => (series.packed ? line(series) : series));
    const text = { color: css("ink"), fontFamily: getComputedStyle(document.body).fontFamily };
    const quiet = { color: css("quiet"), fontSize: 12 };
    const names = new Set(option.series.map((series) => series.name).filter(Boolean));
    // Lines show their dash in the legend, so they keep their own icon.
    const lines = option.series.every((series) => series.type === "line");
    const legend = option.legend && {
      icon: lines ? undefined : "roundRect", padding: [3, 0], itemWidth: lines ? 22 : 14, itemHeight: 8, itemGap: 14, left: "center",
      data: [...names], textStyle: quiet, inactiveColor: css("line"), pageTextStyle: quiet,
      pageIconColor: css("accent"), pageIconInactiveColor: css("line"), ...option.legend,
    };
    const shown = names.size > 1 ? legend : undefined;
    // A legend of several lines pushes the plot down, so that none runs through it.
    const pushed = shown && option.grid?.top ? (legendLines(shown, room) - 1) * LEGEND_LINE : 0;
    const lower = pushed > 0 ? { top: option.grid.top + pushed } : {};
    return {
      ...option,
      pushed,
      animation: false,
      textStyle: text,
      title: option.title && { left: 0, top: 3, padding: 0, textStyle: { ...text, fontSize: 13, fontWeight: 600 }, ...option.title },
      legend: shown,
      grid: { left: 6, right: 14, bottom: 4, outerBoundsMode: "same", outerBoundsContain: "all", ...option.grid, ...lower },
      xAxis: axis(option.xAxis, false, room),
      yAxis: Array.isArray(option.yAxis) ? option.yAxis.map((own) => axis(own, true, room)) : axis(option.yAxis, true, room),
      tooltip: {
        trigger: "item", confine: true, backgroundColor: css("paper"), borderColor: css("line"),
        textStyle: { color: css("ink") },
        formatter: (item) => tooltip(tipLines(item, tips ?? { x: "", y: "" }, option.series[item.seriesIndex])),
      },
      series: option.series.map((series) => ({
        ...series,
        label: series.label && { color: css("ink"), fontSize: 12, ...series.label },
        markLine: series.markLine && {
          ...series.markLine, label: { color: css("quiet"), fontSize: 11, ...series.markLine.label },
        },
      })),
    };
  }

  // Lines travel as whole steps from an origin; `packed` in charts.rs wrote them.
  function unpacked({ from, step, at }) {
    const points = [];
    for (let index = 0; index < at.length; index += 2) {
      points.push([from[0] + step[0] * at[index], from[1] + step[1] * at[index + 1]]);
    }
    return points;
  }

  function line({ packed, color, dash, ...own }) {
    const points = unpacked(packed);
    return {
      type: "line", data: points, symbol: points.length === 1 ? "circle" : "none", symbolSize: 5,
      lineStyle: { color, width: 1.4, type: dash, opacity: 0.9 },
      itemStyle: { color },
      emphasis: { focus: "series" },
      ...own,
    };
  }

  // A channel's chart shows the lines of the chosen trial.
  function withTrial(stored, trial) {
    const lines = trial?.channels[stored.channel] ?? [];
    const series = lines.map(([name, packed], index) => (
      { name, label_of_line: name, packed, color: `$s${index}`, dash: index === 0 ? "solid" : "dashed" }));
    const missing = lines.length === 0 ? { subtext: "not measured in this trial" } : {};
    return { ...stored, series, title: { ...stored.title, ...missing } };
  }

  function chosenTrial() {
    const chosen = document.getElementById("resource-trial")?.value;
    return data.resources.find((own) => String(own.trial) === chosen);
  }

  function draw(element) {
    const stored = data.charts[element.id];
    if (!stored) return;
    // Not in the markup: a strict policy forbids styles there.
    const { pushed, ...option } =
      complete(stored.channel ? withTrial(stored, chosenTrial()) : stored, element.clientWidth);
    if (element.dataset.height) element.style.height = `${Number(element.dataset.height) + pushed}px`;
    const chart = drawn.get(element) ?? echarts.init(element, null, { renderer: "svg" });
    drawn.set(element, chart);
    widths.set(element, element.clientWidth);
    chart.setOption(option, true);
    // Printing does not wait for the next frame.
    chart.getZr().flush();
  }

  const charts = () => document.querySelectorAll("[data-chart]");
  // A chart that cannot be drawn is told, and does not take the others with it.
  const drawAll = () => charts().forEach((element) => {
    try {
      draw(element);
    } catch (error) {
      reportError(error);
    }
  });

  function sortable(table) {
    const body = table.tBodies[0];
    const key = (row, column) => {
      const cell = row.cells[column];
      const text = cell.title || cell.textContent.trim();
      const number = Number(text);
      return text !== "" && Number.isFinite(number) ? number : text;
    };
    const missing = (value) => value === "not available";
    const order = (a, b) => {
      if (typeof a === "number" && typeof b === "number") return a - b;
      return String(a).localeCompare(String(b), "en", { numeric: true });
    };
    [...table.tHead.rows[0].cells].forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const upwards = head.getAttribute("aria-sort") !== "ascending";
        [...head.parentElement.cells].forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", upwards ? "ascending" : "descending");
        const rows = [...body.rows].map((row) => [key(row, column), row]);
        // Missing values stay last whichever way the others go.
        rows.sort(([a], [b]) =>
          missing(a) - missing(b) || (missing(a) ? 0 : upwards ? order(a, b) : order(b, a)));
        body.append(...rows.map(([, row]) => row));
      });
    });
  }

  function tabbed(box, number) {
    const panels = [...box.querySelectorAll("[data-tab]")];
    const list = document.createElement("div");
    list.setAttribute("role", "tablist");
    const tabs = panels.map((panel, index) => {
      const tab = document.createElement("button");
      tab.type = "button";
      tab.textContent = panel.dataset.tab;
      tab.id = `tab-${number}-${index}`;
      panel.id = `panel-${number}-${index}`;
      tab.setAttribute("role", "tab");
      tab.setAttribute("aria-controls", panel.id);
      panel.setAttribute("role", "tabpanel");
      panel.setAttribute("aria-labelledby", tab.id);
      tab.addEventListener("click", () => show(index));
      list.append(tab);
      return tab;
    });
    const show = (chosen) => panels.forEach((panel, index) => {
      panel.hidden = index !== chosen;
      tabs[index].setAttribute("aria-selected", String(index === chosen));
      tabs[index].tabIndex = index === chosen ? 0 : -1;
    });
    list.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      const next = (tabs.indexOf(document.activeElement) + step + tabs.length) % tabs.length;
      show(next);
      tabs[next].focus();
    });
    box.prepend(list);
    show(Math.max(0, panels.findIndex((panel) => panel.hasAttribute("data-front"))));
  }

  // A link to a failed trial opens its details.
  function openTarget() {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target instanceof HTMLDetailsElement) target.open = true;
  }

  const resized = new ResizeObserver((entries) =>
    entries.forEach(({ target }) => {
      drawn.get(target)?.resize();
      // Names take other lines in another width.
      if (drawn.has(target) && widths.get(target) !== target.clientWidth) draw(target);
    }));

  let boxes = 0;
  function show() {
    const block = document.getElementById("report-data");
    data = block ? JSON.parse(block.textContent) : nothing;
    drawn.forEach((chart, element) => {
      if (element.isConnected) return;
      resized.unobserve(element);
      chart.dispose();
      drawn.delete(element);
    });
    // What was made ready before keeps its order and its open tab.
    const fresh = (selector, make) => document.querySelectorAll(selector).forEach((element) => {
      if (element.dataset.ready) return;
      element.dataset.ready = "yes";
      make(element);
    });
    fresh("table[data-sortable]", sortable);
    fresh("[data-tabs]", (box) => tabbed(box, boxes++));
    charts().forEach((element) => {
      if (!drawn.has(element)) resized.observe(element);
    });
    drawAll();
  }

  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
  document.addEventListener("change", (event) => {
    if (event.target.id !== "resource-trial") return;
    charts().forEach((element) => data.charts[element.id]?.channel && draw(element));
  });
  addEventListener("hashchange", openTarget);
  addEventListener("beforeprint", () => {
    root.dataset.theme = "light";
    drawAll();
  });
  addEventListener("afterprint", () => {
    delete root.dataset.theme;
    drawAll();
  });
  globalThis.trainwrightReport = { show };
  show();
  openTarget();
})();
