// Draws the charts of prices. The library is loaded only where a page has one.
"use strict";

(() => {
  const drawn = new WeakMap();
  let loading = null;

  function load(path) {
    loading ??= new Promise((done, failed) => {
      const script = document.createElement("script");
      script.src = path;
      script.addEventListener("load", done);
      script.addEventListener("error", failed);
      document.head.append(script);
    });
    return loading;
  }

  function colour(name) {
    return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
  }

  function options(holder) {
    return {
      layout: {
        background: { color: colour("card") },
        textColor: colour("text-3"),
        fontFamily: getComputedStyle(document.body).fontFamily,
        // Its logo needs an inline style sheet, which our content policy forbids. The credit is below the chart.
        attributionLogo: false,
      },
      grid: { vertLines: { visible: false }, horzLines: { color: colour("hair") } },
      rightPriceScale: { borderColor: colour("line") },
      timeScale: {
        borderColor: colour("line"),
        timeVisible: "clock" in holder.dataset,
        secondsVisible: false,
        maxBarSpacing: 40,
      },
      crosshair: { mode: 0 },
    };
  }

  function seriesOptions(kind) {
    const up = colour("up");
    const down = colour("down");
    if (kind === "line") return { color: colour("accent"), lineWidth: 2 };
    return {
      priceLineColor: colour("accent"),
      upColor: up, borderUpColor: up, wickUpColor: up, downColor: colour("card"), borderDownColor: down,
      wickDownColor: down,
    };
  }

  function put(holder, chart) {
    const points = JSON.parse(holder.dataset.points);
    const line = holder.dataset.chart === "line";
    chart.series.setData(
      points.map(([time, open, high, low, close]) =>
        line ? { time, value: close } : { time, open, high, low, close }),
    );
    if (chart.count !== points.length && !chart.moved) chart.api.timeScale().fitContent();
    chart.count = points.length;
    chart.points = holder.dataset.points;
  }

  function make(holder) {
    const library = window.LightweightCharts;
    const inRupees = new Intl.NumberFormat("en-IN", { minimumFractionDigits: 2, maximumFractionDigits: 2 });
    const api = library.createChart(holder.querySelector(".plot"), {
      autoSize: true,
      localization: { locale: "en-IN", priceFormatter: (price) => inRupees.format(price) },
      ...options(holder),
    });
    const kind = holder.dataset.chart === "line" ? library.LineSeries : library.CandlestickSeries;
    const series = api.addSeries(kind, seriesOptions(holder.dataset.chart));
    const chart = { api, series, points: "", count: 0, moved: false };
    // Somebody who has chosen a part of the time keeps it.
    for (const kind of ["wheel", "pointerdown"]) {
      holder.addEventListener(kind, () => { chart.moved = true; }, { passive: true });
    }
    drawn.set(holder, chart);
    return chart;
  }

  async function draw() {
    const holders = [...document.querySelectorAll(".chart[data-points]")];
    if (holders.length === 0) return;
    try {
      await load(holders[0].dataset.library);
    } catch {
      return; // The sentence and the table of values are there without it.
    }
    for (const holder of holders) {
      const chart = drawn.get(holder) ?? make(holder);
      if (chart.points !== holder.dataset.points) put(holder, chart);
    }
  }

  function paint() {
    for (const holder of document.querySelectorAll(".chart[data-points]")) {
      const chart = drawn.get(holder);
      chart?.api.applyOptions(options(holder));
      chart?.series.applyOptions(seriesOptions(holder.dataset.chart));
    }
  }

  const main = document.getElementById("main");
  if (main) {
    const filter = { subtree: true, childList: true, attributes: true, attributeFilter: ["data-points"] };
    new MutationObserver(draw).observe(main, filter);
    new MutationObserver(paint).observe(document.documentElement, { attributeFilter: ["data-theme"] });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", paint);
    draw();
  }
})();
