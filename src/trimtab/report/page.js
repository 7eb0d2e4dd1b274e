"use strict";
// Draws the charts of the page in the theme in use, and keeps their legends and the theme together.
(() => {
  const root = document.documentElement;
  const darkScreen = window.matchMedia("(prefers-color-scheme: dark)");
  const charts = [];
  const hidden = new Map(); // policy -> whether its lines are hidden, in all charts
  const narrow = () => window.innerWidth < 600;

  const colours = () => {
    const style = getComputedStyle(root);
    const read = (name) => style.getPropertyValue("--" + name).trim();
    return { ink: read("ink"), muted: read("muted"), faint: read("faint"), rule: read("rule"), paper: read("paper") };
  };

  // "@ink" and its like stand for a colour of the theme.
  const themed = (value, palette) => {
    if (typeof value === "string") return value[0] === "@" && palette[value.slice(1)] ? palette[value.slice(1)] : value;
    if (Array.isArray(value)) {
      return typeof value[0] === "number" ? value : value.map((entry) => themed(entry, palette));
    }
    if (value && typeof value === "object") {
      return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, themed(entry, palette)]));
    }
    return value;
  };

  const layoutOf = (chart, palette) => {
    const small = narrow();
    const axis = (given) => ({
      gridcolor: palette.rule, linecolor: palette.rule, tickcolor: palette.rule, ...given,
      title: { ...(given.title || {}), standoff: 8, font: { size: small ? 11 : 13 } },
      ...(given.type === "category" ? { ticksuffix: "  ", showgrid: false, tickfont: { size: small ? 10 : 12 } } : {}),
    });
    const layout = themed(chart.layout, palette);
    return {
      hovermode: "closest", bargap: 0.25, ...layout,
      height: chart.height, autosize: true, dragmode: small ? false : "zoom",
      margin: { l: 8, r: small ? 8 : 16, t: small ? 8 : 30, b: 8 },
      modebar: { bgcolor: "rgba(0,0,0,0)", color: palette.faint, activecolor: palette.ink },
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
      font: { family: getComputedStyle(document.body).fontFamily, size: small ? 11 : 13, color: palette.ink },
      hoverlabel: { bgcolor: palette.paper, bordercolor: palette.muted, font: { color: palette.ink } },
      xaxis: axis(layout.xaxis || {}), yaxis: axis(layout.yaxis || {}),
    };
  };

  const dataOf = (chart, palette) =>
    themed(chart.data, palette).map((trace) => {
      if (chart.choices.length) return { ...trace, visible: trace.name === chart.choice };
      return trace.meta === undefined ? trace : { ...trace, visible: !hidden.get(trace.meta) };
    });

  const draw = (chart) => {
    const palette = colours();
    return Plotly.react(chart.div, dataOf(chart, palette), layoutOf(chart, palette), {
      responsive: true, displaylogo: false, displayModeBar: !narrow(),
      modeBarButtons: [["toImage", "zoom2d", "pan2d", "resetScale2d"]],
    });
  };

  const dashes = { solid: "", dash: "6 4", dot: "2 3", dashdot: "6 3 2 3" };
  const sample = (line) => {
    const space = "http" + "://www.w3.org/2000/svg";
    const svg = document.createElementNS(space, "svg");
    svg.setAttribute("width", "22");
    svg.setAttribute("height", "8");
    svg.setAttribute("aria-hidden", "true");
    const stroke = document.createElementNS(space, "line");
    const colour = line.color[0] === "@" ? `var(--${line.color.slice(1)})` : line.color;
    Object.entries({ x1: 0, x2: 22, y1: 4, y2: 4, "stroke-width": line.width || 2 }).forEach(([key, value]) =>
      stroke.setAttribute(key, value));
    stroke.style.stroke = colour;
    stroke.style.strokeDasharray = dashes[line.dash] || "";
    svg.append(stroke);
    return svg;
  };

  const policyLegend = (chart) => {
    const seen = new Set();
    chart.data.filter((trace) => trace.meta !== undefined).forEach((trace) => {
      if (seen.has(trace.meta)) return;
      seen.add(trace.meta);
      if (!hidden.has(trace.meta)) hidden.set(trace.meta, trace.visible === false);
      const button = document.createElement("button");
      button.type = "button";
      button.dataset.policy = trace.meta;
      button.title = "Show or hide in all charts";
      button.append(sample(trace.line), trace.meta);
      button.addEventListener("click", () => {
        hidden.set(trace.meta, !hidden.get(trace.meta));
        refreshLegends();
        charts.filter((other) => other.data.some((entry) => entry.meta === trace.meta)).forEach(draw);
      });
      chart.figure.querySelector(".legend").append(button);
    });
  };

  const refreshLegends = () =>
    document.querySelectorAll(".legend button").forEach((button) =>
      button.setAttribute("aria-pressed", String(!hidden.get(button.dataset.policy))));

  const plainLegend = (chart) =>
    chart.legend.forEach(([label, colour]) => {
      const entry = document.createElement("span");
      entry.className = "entry";
      entry.append(sample({ color: colour, width: 8 }), label);
      chart.figure.querySelector(".legend").append(entry);
    });

  const chooser = (chart) => {
    if (chart.choices.length < 2) return;
    const label = document.createElement("label");
    const select = document.createElement("select");
    chart.choices.forEach((name) => select.append(new Option(name, name)));
    select.addEventListener("change", () => { chart.choice = select.value; draw(chart); });
    label.append("Policy: ", select);
    chart.figure.querySelector(".controls").append(label);
  };

  const sortable = (table) =>
    table.querySelectorAll("thead th").forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = head.textContent;
      head.replaceChildren(button);
      button.addEventListener("click", () => {
        const falling = head.getAttribute("aria-sort") === "ascending";
        table.querySelectorAll("thead th").forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", falling ? "descending" : "ascending");
        const key = (row) => {
          const cell = row.cells[column];
          return cell.dataset.value === undefined ? cell.textContent : Number(cell.dataset.value);
        };
        const compare = (a, b) => {
          const [x, y] = [key(a), key(b)];
          if (typeof x !== typeof y) return typeof x === "number" ? -1 : 1; // cells without a value last
          const order = typeof x === "number" ? x - y : x.localeCompare(y);
          return falling ? -order : order;
        };
        table.tBodies[0].append(...[...table.tBodies[0].rows].sort(compare));
      });
    });

  const dark = () => (root.dataset.theme ? root.dataset.theme === "dark" : darkScreen.matches);
  const toggle = document.getElementById("theme");
  const showTheme = () => {
    toggle.textContent = dark() ? "Light" : "Dark";
    toggle.setAttribute("aria-label", dark() ? "Use light colours" : "Use dark colours");
    toggle.setAttribute("aria-pressed", String(dark()));
  };
  const redraw = () => { showTheme(); charts.forEach(draw); };
  toggle.addEventListener("click", () => { root.dataset.theme = dark() ? "light" : "dark"; redraw(); });
  darkScreen.addEventListener("change", redraw);

  // Paper is white, whatever the screen is; and it is narrower.
  let before;
  window.addEventListener("beforeprint", () => {
    before = root.dataset.theme;
    root.dataset.theme = "light";
    redraw();
    const width = (chart) => (chart.figure.classList.contains("half") ? 310 : 670);
    charts.forEach((chart) => Plotly.relayout(chart.div, { width: width(chart) }));
  });
  window.addEventListener("afterprint", () => {
    if (before === undefined) delete root.dataset.theme; else root.dataset.theme = before;
    charts.forEach((chart) => Plotly.relayout(chart.div, { width: null }));
    redraw();
  });

  document.querySelectorAll("figure").forEach((figure) => {
    const content = JSON.parse(figure.querySelector("script").textContent);
    const chart = { figure, div: figure.querySelector(".chart"), choice: content.choices[0], ...content };
    charts.push(chart);
    policyLegend(chart);
    plainLegend(chart);
    chooser(chart);
  });
  document.querySelectorAll("table").forEach(sortable);
  refreshLegends();
  showTheme();
  Promise.all(charts.map(draw)).then(() => { root.dataset.drawn = String(charts.length); });
})();
