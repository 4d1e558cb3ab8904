// Draws every <div class="chart" data-spec="…"> of the report, in the colours of light or dark as the reader has it.
(() => {
  const look = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const draw = () => {
    const [ink, muted, line, accent] = ["--ink", "--muted", "--line", "--accent"].map(look);
    const config = {
      background: "transparent",
      font: getComputedStyle(document.body).fontFamily,
      view: { stroke: null },
      axis: { labelColor: ink, titleColor: muted, gridColor: line, domainColor: line, tickColor: line, labelFontSize: 13, titleFontSize: 12, titleFontWeight: "normal", labelLimit: 220 },
      legend: { labelColor: ink, titleColor: muted },
      // What a chart does not colour itself; `quintain.reports.series` has the same.
      range: { category: ["#4a76d4", "#2f9e77", "#b0558f", "#c04a3f", "#1f93ab", "#8a63d2", "#7f7a2f", "#7d8797"] },
      bar: { color: accent },
      area: { color: accent },
      line: { color: accent },
      point: { color: accent },
      rule: { color: muted },
      text: { color: ink, fontSize: 13 },
      title: { color: ink },
    };
    for (const element of document.querySelectorAll(".chart[data-spec]")) {
      const spec = JSON.parse(element.dataset.spec);
      // Hollow marks are filled with what is behind the chart.
      for (const param of spec.params ?? []) if (param.name === "ground") param.value = look("--surface");
      const options = { actions: false, ast: true, config, renderer: "svg" };
      window.vegaEmbed(element, spec, options).then(() => {
        element.dataset.drawn = "true";
      });
    }
  };
  draw();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
})();
