(function () {
  function draw() {
    var waiting = window.mixpolicyCharts;
    window.mixpolicyCharts = {
      push: function (chart) {
        try { chart(); } catch (error) { console.error(error); } // one bad chart must not stop the others
      },
    };
    if (Array.isArray(waiting)) waiting.forEach(window.mixpolicyCharts.push);
  }
  if (window.echarts) return draw();
  if (window.mixpolicyLoading) return;

  // JupyterLab serves the bundle itself, under the base address that its page declares.
  var sources = ["{{CDN}}"];
  var config = document.getElementById("jupyter-config-data");
  if (config) sources.unshift(JSON.parse(config.textContent).baseUrl + "static/{{FILE}}");

  function load(i) {
    return fetch(sources[i], { integrity: "{{INTEGRITY}}", credentials: "same-origin" })
      .then(function (response) {
        if (!response.ok) throw new Error(sources[i] + ": " + response.status);
        return response.text();
      })
      .then(function (code) {
        // The three names hide a module loader (require.js), which would keep the bundle to itself.
        new Function("define", "exports", "module", code).call(window);
        draw();
      })
      .catch(function (error) {
        if (i + 1 < sources.length) return load(i + 1);
        window.mixpolicyLoading = null; // the next chart may try again
        console.info("The charts stay still pictures:", error.message);
      });
  }
  window.mixpolicyLoading = load(0);
})();
