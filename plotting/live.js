// Draws the charts of one output: what go-echarts can't say in JSON, which is
// functions (number formats, tooltips, shapes in data coordinates), the look in
// light and dark, and the life of the chart in its page.
function (charts) {
  var echarts = window.echarts;

  function raise(n) {
    return String(n).replace(/[-\d]/g, function (c) { return c === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[c]; });
  }
  function number(v, digits) {
    v = +(+v).toPrecision(digits || 6);
    var a = Math.abs(v);
    if (v === 0 || (a >= 1e-3 && a < 1e6)) return String(v).replace("-", "−");
    var parts = v.toExponential().split("e"), m = parts[0].replace("-", "−"), e = "10" + raise(+parts[1]);
    return m === "1" ? e : m === "−1" ? "−" + e : m + "·" + e;
  }

  // Shapes of custom series: of each row, or of all rows at the first.
  var shapes = {
    band: function (rows, s) {
      var lo = s.encode.y[0], hi = s.encode.y[1];
      return whole(function (at) {
        var upper = rows.map(function (r) { return at(r[0], r[hi]); });
        var lower = rows.map(function (r) { return at(r[0], r[lo]); });
        return fill(upper.concat(lower.reverse()), s);
      });
    },
    region: function (rows, s) {
      return whole(function (at) { return fill(rows.map(function (r) { return at(r[0], r[1]); }), s); });
    },
    boxes: function (rows, s, option) {
      var y = option.yAxis[0], base = y.type === "log" ? y.min : 0, half = s.barWidth / 2;
      return function (params, api) {
        var r = rows[params.dataIndex], a = api.coord([r[0] - half, base]), b = api.coord([r[0] + half, r[1]]);
        return {
          type: "rect",
          shape: { x: a[0], y: Math.min(a[1], b[1]), width: b[0] - a[0], height: Math.abs(a[1] - b[1]) },
          style: { fill: s.itemStyle.color, opacity: s.itemStyle.opacity, stroke: b[0] - a[0] > 4 ? s.itemStyle.color : null },
        };
      };
    },
    whiskers: function (rows, s) {
      return function (params, api) {
        var r = rows[params.dataIndex], a = api.coord([r[0], r[2]]), b = api.coord([r[0], r[3]]), x = a[0], cap = 4;
        return {
          type: "path",
          shape: { pathData: "M" + x + "," + a[1] + "V" + b[1] + "M" + (x - cap) + "," + a[1] + "h" + 2 * cap + "M" + (x - cap) + "," + b[1] + "h" + 2 * cap },
          style: { fill: "none", stroke: s.itemStyle.color, lineWidth: 1.5 },
        };
      };
    },
    arrows: function (rows, s) {
      return whole(function (at) {
        var p = rows.map(function (r) { return at(r[0], r[1]); }), length = 0, walked = 0, heads = [], size = 5, next, i, d;
        function step(i) { return Math.hypot(p[i][0] - p[i - 1][0], p[i][1] - p[i - 1][1]); }
        for (i = 1; i < p.length; i++) length += step(i);
        if (length < 12 * size) return null;
        for (i = 1, next = length / 4; i < p.length && heads.length < 3; walked += d, i++) {
          for (d = step(i); d > 0 && walked + d >= next && heads.length < 3; next += length / 4) {
            var ux = (p[i][0] - p[i - 1][0]) / d, uy = (p[i][1] - p[i - 1][1]) / d;
            var x = p[i - 1][0] + ux * (next - walked), y = p[i - 1][1] + uy * (next - walked);
            heads.push(fill([[x + size * ux, y + size * uy], [x - size * (ux + uy), y - size * (uy - ux)], [x - size * (ux - uy), y - size * (uy + ux)]], s));
          }
        }
        return { type: "group", children: heads };
      });
    },
  };
  function whole(shape) {
    return function (params, api) {
      if (params.context.done) return null;
      params.context.done = true;
      return shape(function (x, y) { return api.coord([x, y]); });
    };
  }
  function fill(points, s) {
    return { type: "polygon", shape: { points: points }, style: { fill: s.itemStyle.color, opacity: s.itemStyle.opacity } };
  }

  function complete(option) {
    option = JSON.parse(JSON.stringify(option));
    var data = [].concat(option.dataset || []);
    option.series.forEach(function (s) {
      if (s.tooltip) s.tooltip.show = !(s.silent = true);
      if (s.type !== "custom") return;
      var rows = data[s.datasetIndex || 0].source;
      s.renderItem = shapes[s.renderItem](rows, s, option);
      s.clip = true;
    });
    option.tooltip.confine = true;
    option.tooltip.formatter = function (params) {
      params = [].concat(params);
      var head = option.xAxis[0].name || "x", lines = params.map(function (p) {
        var y = option.series[p.seriesIndex].encode.y, v = p.value, text;
        if (y.length) text = number(v[y[0]]) + " … " + number(v[y[1]]);
        else text = "<b>" + number(v[y]) + "</b>" + (v.length > 3 ? " [" + number(v[2]) + ", " + number(v[3]) + "]" : "");
        return p.marker + echarts.format.encodeHTML(p.seriesName.replace(/^series\d+$/, "")) + " " + text;
      });
      return [echarts.format.encodeHTML(head) + " = " + number(params[0].value[0])].concat(lines).join("<br>");
    };
    option.toolbox = { right: 0, top: 0, itemSize: 13, feature: { dataZoom: { filterMode: "none" }, restore: {}, saveAsImage: { pixelRatio: 2 } } };
    // The wheel scrolls the page; with Ctrl or Cmd it zooms.
    option.dataZoom = ["xAxisIndex", "yAxisIndex"].map(function (axis) {
      var zoom = { type: "inside", filterMode: "none", zoomOnMouseWheel: "ctrl", moveOnMouseWheel: false };
      zoom[axis] = 0;
      return zoom;
    });
    return option;
  }

  function theme(dark) {
    var ink = dark ? "#dddddd" : "#222222", soft = dark ? "#999999" : "#666666", faint = dark ? "#3c3c3c" : "#e4e4e4", paper = dark ? "#1e1e1e" : "#ffffff";
    var text = { color: ink }, line = { lineStyle: { color: soft } };
    var axis = {
      axisLine: { show: true, onZero: false, lineStyle: { color: soft } }, axisTick: { show: true, lineStyle: { color: soft } },
      axisLabel: { color: ink, hideOverlap: true, formatter: function (v) { return number(v, 12); } },
      nameTextStyle: { color: ink, fontSize: 13 }, splitLine: { lineStyle: { color: faint } },
      minorTick: { lineStyle: { color: soft } },
    };
    return {
      darkMode: dark, backgroundColor: "transparent", textStyle: { fontFamily: "Liberation Sans, Arial, Helvetica, sans-serif" },
      title: { textStyle: text }, legend: { textStyle: text, pageTextStyle: text, pageIconColor: soft, pageIconInactiveColor: faint },
      tooltip: { backgroundColor: paper, borderColor: soft, textStyle: text, axisPointer: line },
      toolbox: { iconStyle: { borderColor: soft } }, valueAxis: axis, logAxis: axis,
    };
  }
  function isDark(e) {
    for (; e; e = e.parentElement) {
      var c = getComputedStyle(e).backgroundColor.match(/[\d.]+/g);
      if (c && (c.length < 4 || +c[3] > 0)) return 0.3 * c[0] + 0.59 * c[1] + 0.11 * c[2] < 128;
    }
    return false;
  }

  charts.forEach(function (spec) {
    document.querySelectorAll('[data-figure="' + spec.key + '"]:not([data-live])').forEach(function (root) {
      var still = root.querySelector(".mixpolicy-static"), live = root.querySelector(".mixpolicy-live"), slider = root.querySelector("input");
      var chart, dark, frame = slider ? +slider.value : 0;
      root.setAttribute("data-live", "");
      function draw() {
        if (chart) chart.dispose();
        dark = isDark(root);
        chart = echarts.init(live, theme(dark));
        chart.setOption(complete(spec.frames[frame]));
        fit();
      }
      function fit() {
        chart.resize();
        chart.setOption({ title: { textStyle: { width: Math.max(80, live.clientWidth - 90), overflow: "truncate" } } });
      }
      still.hidden = true;
      live.hidden = false;
      new ResizeObserver(function () {
        if (live.clientWidth > 0) chart ? fit() : draw();
      }).observe(live);
      if (slider) {
        slider.parentElement.hidden = false;
        slider.oninput = function () {
          frame = +slider.value;
          root.querySelector("output").textContent = spec.labels[frame];
          if (chart) chart.setOption(complete(spec.frames[frame]), { replaceMerge: ["series", "dataset"] });
        };
      }
      var watch = new MutationObserver(function () { setTimeout(follow, 100); });
      function follow() {
        if (!root.isConnected) { watch.disconnect(); if (chart) chart.dispose(); chart = null; return; }
        if (chart && isDark(root) !== dark) draw();
      }
      [document.documentElement, document.body].forEach(function (e) { watch.observe(e, { attributes: true }); });
      matchMedia("(prefers-color-scheme: dark)").addEventListener("change", follow);
    });
  });
}
