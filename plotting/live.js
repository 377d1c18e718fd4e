// Draws the charts of one output. It adds what go-echarts cannot express in
// JSON: functions (number formats, tooltips, shapes in data coordinates), the
// look in light and dark, and the chart's reactions to its page.
function (charts) {
  var echarts = window.echarts;

  function raise(n) {
    return String(n).replace(/[-\d]/g, function (c) { return c === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[c]; });
  }
  function number(v, digits) {
    v = +(+v).toPrecision(digits);
    var a = Math.abs(v);
    if (v === 0 || (a >= 1e-3 && a < 1e6)) return String(v).replace("-", "−");
    var parts = v.toExponential().split("e"), m = parts[0].replace("-", "−"), e = "10" + raise(+parts[1]);
    return m === "1" ? e : m === "−1" ? "−" + e : m + "·" + e;
  }

  // Writes numbers with enough digits to tell the ticks of an axis apart. Two ticks are at least a tenth of the axis apart.
  function plain(lo, hi) {
    var n = Math.min(17, Math.max(6, 2 + Math.ceil(Math.log10(Math.max(Math.abs(lo), Math.abs(hi)) / (hi - lo)))));
    return function (v) { return number(v, n); };
  }
  function power(v) { // 10ᵛ
    var e = Math.round(v * 1e9) / 1e9;
    return e % 1 === 0 && (e > 3 || e < -2) ? "10" + raise(e) : number(Math.pow(10, v), 3);
  }
  // A logarithmic axis is a linear axis of log₁₀: ECharts' own logarithmic axis labels
  // only powers of ten, rounds below 10⁻¹⁰ and zooms in the wrong place.
  function logarithmic(a) {
    a.type = "value";
    a.min = Math.log10(a.min);
    a.max = Math.log10(a.max);
    a.splitLine = { showMinLine: true, showMaxLine: true };
    logTicks(a, a.min, a.max);
  }
  function logTicks(a, lo, hi) {
    var decades = hi - lo, every = 1 + Math.floor(decades / 7), values = [], e, m, v;
    for (e = Math.floor(lo); e <= hi; e++) {
      for (m = 1; m < 10; m++) {
        v = e + Math.log10(m);
        if (v < lo - 1e-9 || v > hi + 1e-9) continue;
        // On less than 0.8 decades, 9 gets no label, because it would touch 10, and 7 gets none either.
        if (m === 1 ? e % every === 0 : decades < 0.8 ? m !== 7 && m !== 9 : decades < 2 && (m === 2 || m === 5)) values.push(v);
      }
    }
    var label = power;
    if (values.length < 2) { // the axis is as good as linear
      var from = Math.pow(10, lo), to = Math.min(Number.MAX_VALUE, Math.pow(10, hi)), step = echarts.number.nice((to - from) / 5, true), show = plain(from, to);
      values = [];
      for (m = Math.ceil(from / step); m * step <= to; m++) values.push(Math.log10(m * step));
      label = function (v) { return show(Math.pow(10, v)); };
    }
    a.axisLabel = { customValues: values, formatter: label };
    a.axisTick = { customValues: values };
    return a;
  }
  var dashes = { dashed: [7, 4], dotted: [2, 3.5], dashdot: [8, 3.5, 2, 3.5] };

  // Shapes of custom series: some are drawn once for each row, others (whole) once for all rows.
  var shapes = {
    band: function (rows, s) {
      var lo = s.encode.y[0], hi = s.encode.y[1];
      return whole(function (at) {
        var upper = rows.map(function (r) { return at(r[0], r[hi]); });
        var lower = rows.map(function (r) { return at(r[0], r[lo]); });
        return fill(upper.concat(lower.reverse()), s);
      });
    },
    boxes: function (rows, s, option, paper, log) {
      var y = option.yAxis[0], base = log[1] ? y.min : 0, half = s.barWidth / 2;
      return function (params, api) {
        var r = rows[params.dataIndex], a = api.coord([r[0] - half, base]), b = api.coord([r[0] + half, r[1]]);
        return {
          type: "rect",
          shape: { x: a[0], y: Math.min(a[1], b[1]), width: b[0] - a[0], height: Math.abs(a[1] - b[1]) },
          style: { fill: s.itemStyle.color, opacity: s.itemStyle.opacity },
        };
      };
    },
    whiskers: function (rows, s) { return bar(rows, s, [0, 2], [0, 3], "h"); },
    level: function (rows, s) { return bar(rows, s, [2, 1], [3, 1], "v"); },
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
    rule: function (rows, s, option, paper) {
      var nth = s.encode.x === 0 && s.label.formatter ? option.nth = 1 + (option.nth == null ? -1 : option.nth) : 0; // each label of a vertical rule has its line
      return function (params, api) {
        var g = params.coordSys, vertical = s.encode.x === 0, end = /End/.test(rows[0][1]), top = /Top/.test(rows[0][1]);
        var p = api.coord(vertical ? [rows[0][0], option.yAxis[0].min] : [option.xAxis[0].min, rows[0][0]]), right = g.x + g.width, low = g.y + g.height;
        if (!vertical) top = top ? p[1] - 19 > g.y : p[1] + 19 > low; // inside the frame
        // The label of a vertical rule changes sides only if it does not fit in lines of 50 pixels.
        var space = top ? right - p[0] - 6 : p[0] - g.x - 6, fits = Math.min(50, long(s.label.formatter || "", 12)) <= space, after = fits === top;
        return { type: "group", children: [
          { type: "line", shape: vertical ? { x1: p[0], x2: p[0], y1: g.y, y2: low } : { x1: g.x, x2: right, y1: p[1], y2: p[1] },
            style: { stroke: s.itemStyle.color, lineWidth: dashes[s.lineStyle.type] ? 1.3 : 1, lineDash: dashes[s.lineStyle.type] } },
          vertical ? label(s, p[0] + (after ? 4 : -4), end ? g.y + 3 + 15 * nth : low - 3 - 15 * nth, after ? "left" : "right", end ? "top" : "bottom", paper, fits ? space : Infinity)
            : label(s, end ? right - 4 : g.x + 4, p[1] + (top ? -4 : 4), end ? "right" : "left", top ? "bottom" : "top", paper, g.width - 8),
        ] };
      };
    },
    span: function (rows, s, option) {
      return function (params, api) {
        var g = params.coordSys, vertical = s.encode.x === 0, v = rows[0];
        var p = v.map(function (at) { return api.coord(vertical ? [at, option.yAxis[0].min] : [option.xAxis[0].min, at]); });
        var r = vertical ? { x: p[0][0], y: g.y, width: p[1][0] - p[0][0], height: g.height } : { x: g.x, y: p[1][1], width: g.width, height: p[0][1] - p[1][1] };
        var width = long(s.label.formatter || "", 12), x = r.x + 4, y = r.y + 3, align = "left";
        if (vertical && width + 8 > r.width) { // beside a strip that can't hold it
          x = r.x + r.width + 4;
          if (x + width > g.x + g.width) { x = r.x - 4; align = "right"; }
        } else if (!vertical && r.height < 18) y = r.y > g.y + 16 ? r.y - 15 : r.y + r.height + 3;
        return { type: "group", children: [
          { type: "rect", shape: r, style: { fill: s.itemStyle.color, opacity: s.itemStyle.opacity } },
          label(s, x, y, align, "top"),
        ] };
      };
    },
    arrow: function (rows, s) {
      return whole(function (at, g) {
        var to = at(rows[0][0], rows[0][1]), from = at(rows[1][0], rows[1][1]), d = Math.hypot(to[0] - from[0], to[1] - from[1]), parts = [];
        var ux = (to[0] - from[0]) / d, uy = (to[1] - from[1]) / d, align = "center", x = from[0], y = from[1], size = Math.min(8, d);
        if (d > 0) {
          var tx = to[0] - size * ux, ty = to[1] - size * uy;
          parts = [
            { type: "line", shape: { x1: from[0], y1: from[1], x2: tx, y2: ty }, style: { stroke: s.itemStyle.color, lineWidth: 1.3, opacity: s.itemStyle.opacity } },
            fill([to, [tx - size * uy / 2, ty + size * ux / 2], [tx + size * uy / 2, ty - size * ux / 2]], s),
          ];
          if (Math.abs(ux) < 0.5) y -= 8 * Math.sign(uy);
          else { align = ux > 0 ? "right" : "left"; x -= 4 * Math.sign(ux); }
        }
        var w = long(s.label.formatter || "", 12); // within the axes, if they are wide enough
        if (align === "left") x = Math.max(g.x, Math.min(x, g.x + g.width - w));
        else if (align === "right") x = Math.min(g.x + g.width, Math.max(x, g.x + w));
        return { type: "group", children: parts.concat(label(s, x, y, align, "middle")) };
      });
    },
    picture: function (rows, s) {
      return whole(function (at) {
        var a = at(rows[0][0], rows[0][1]), b = at(rows[1][0], rows[1][1]);
        return { type: "image", style: { image: s.symbol, x: a[0], y: b[1], width: b[0] - a[0], height: a[1] - b[1] } };
      });
    },
    texts: function (rows, s, option, paper, log, dark) {
      return function (params, api) {
        var r = rows[params.dataIndex], p = api.coord([r[0], r[1]]);
        return { type: "text", x: p[0], y: p[1], style: { text: r[2], fill: dark ? "#cccccc" : "#555555", fontSize: 11, align: "center", verticalAlign: "middle", stroke: paper, lineWidth: 4 } };
      };
    },
  };
  function bar(rows, s, from, to, across) {
    return function (params, api) {
      var r = rows[params.dataIndex];
      function at(columns) { return api.coord([r[columns[0]], r[columns[1]]]); }
      function cap(p) { return "M" + (across === "h" ? p[0] - 4 + "," + p[1] : p[0] + "," + (p[1] - 4)) + across + 8; }
      var a = at(from), b = at(to);
      return { type: "path", shape: { pathData: "M" + a + "L" + b + cap(a) + cap(b) }, style: { fill: "none", stroke: s.itemStyle.color, lineWidth: 1.5 } };
    };
  }
  function whole(shape) {
    return function (params, api) {
      if (params.context.done) return null;
      params.context.done = true;
      return shape(function (x, y) { return api.coord([x, y]); }, params.coordSys);
    };
  }
  function label(s, x, y, align, verticalAlign, paper, room) {
    return { type: "text", style: { text: broken(s.label.formatter || "", 12, room || Infinity), x: x, y: y, align: align, verticalAlign: verticalAlign, fill: s.ink, fontSize: 12, lineHeight: 15, rich: scripts(12), stroke: paper, lineWidth: paper ? 3 : 0 }, z2: 200 };
  }
  function fill(points, s) {
    return { type: "polygon", shape: { points: points }, style: { fill: s.itemStyle.color, opacity: s.itemStyle.opacity } };
  }

  // The page holds the first frame and, for every other frame, only what differs from the first.
  function complete(spec, frame, dark, width, height) {
    var option = JSON.stringify(Object.assign({}, spec.frames[0], spec.frames[frame]));
    if (dark) option = option.replace(/#0072b2/g, "#2484c2").replace(/#56b4e9/g, "#8dd0fa").replace(/#222222/g, "#dddddd").replace(/#ffffff/g, paper(dark)); // what is too dark on black, and Sky, as far from Blue as on white; hollow markers
    option = JSON.parse(option);
    Object.assign(option.legend, legendItem);
    var top = head(option, width, height), title = option.title.text || "";
    Object.assign(option.title.textStyle, top.title.textStyle);
    option.title.text = top.title.text;
    Object.assign(option.legend, top.legend);
    Object.assign([].concat(option.grid)[0], top.grid);
    option.xAxis[0].name = top.xAxis.name;
    option.yAxis[0].name = top.yAxis.name;
    var axes = [option.xAxis[0], option.yAxis[0]], tell = axes.map(function (a) { return plain(a.min, a.max); });
    axes.forEach(function (a) { // ECharts has ticks at both ends, whatever the step
      var step = echarts.number.nice((a.max - a.min) / 5, true);
      function even(v) { return Math.abs(v / step - Math.round(v / step)) < 1e-9; }
      if (a.type !== "log") a.axisLabel = { showMinLabel: even(a.min), showMaxLabel: even(a.max), formatter: plain(a.min, a.max) };
    });
    var names = option.yAxis[0].data;
    if (names) {
      var at = names.map(function (_, i) { return i + 1; });
      Object.assign(option.yAxis[0].axisLabel, { customValues: at, showMinLabel: true, showMaxLabel: true, hideOverlap: false, overflow: "truncate", lineHeight: nameLine }, top.yAxis.axisLabel);
      option.yAxis[0].axisTick = { customValues: at };
      delete option.yAxis[0].data;
    }
    var data = [].concat(option.dataset || []), raw = data.map(function (d) {
      return spec.columns[d.source[0]].map(function (_, i) { return d.source.map(function (k) { return spec.columns[k][i]; }); });
    });
    var log = axes.map(function (a) { return a.type === "log" && !logarithmic(a); });
    option.series.forEach(function (s) {
      var k = s.datasetIndex || 0, vertical = s.encode.y == null, horizontal = s.encode.x == null;
      data[k].source = raw[k].map(function (row) {
        return row.map(function (v, i) {
          var l = log[vertical || (i === 0 && !horizontal) || (names && i > 1) ? 0 : 1];
          return l && typeof v === "number" ? Math.log10(v) : v;
        });
      });
    });
    var table = "series,x,y,lo,hi\n";
    option.series.forEach(function (s) {
      var rule = s.renderItem === "rule", name = rule ? s.label.formatter || "" : (s.name || "").replace(/^series\u0000\d+$/, "");
      if (s.type !== "custom" || rule || s.renderItem === "boxes") raw[s.datasetIndex || 0].forEach(function (r) {
        table += ['"' + name.replace(rich, "$2").replace(/"/g, '""') + '"'].concat(!rule ? r : s.encode.x == null ? ["", r[0]] : r[0]).join() + "\n";
      });
    });
    option.series.forEach(function (s) {
      if (s.tooltip) s.tooltip.show = !(s.silent = true);
      if (dark && s.type === "line") s.lineStyle.opacity = Math.min(1, 1.5 * (s.lineStyle.opacity || 1));
      if (s.type === "line" && dashes[s.lineStyle.type]) s.lineStyle.type = dashes[s.lineStyle.type];
      s.ink = dark ? "#cccccc" : "#555555"; // of labels
      if (s.type !== "custom") return;
      var rows = data[s.datasetIndex || 0].source;
      if (dark) s.itemStyle.opacity = Math.min(1, 1.5 * s.itemStyle.opacity);
      s.renderItem = shapes[s.renderItem](rows, s, option, paper(dark), log, dark);
      s.clip = true;
    });
    option.tooltip.confine = true;
    option.tooltip.formatter = function (params) {
      params = [].concat(params);
      var head = (option.xAxis[0].name || "").split("\n")[0] || "x", lines = params.map(function (p) {
        var s = option.series[p.seriesIndex], y = s.encode.y, v = raw[s.datasetIndex || 0][p.dataIndex], show = tell[names ? 0 : 1], text;
        if (y.length) text = show(v[y[0]]) + " … " + show(v[y[1]]);
        else text = "<b>" + (names ? markup(names[v[1] - 1] || "") : show(v[y])) + "</b>" + (v.length > 3 ? " [" + show(v[2]) + ", " + show(v[3]) + "]" : "");
        return p.marker + markup(p.seriesName.replace(/^series\u0000\d+$/, "")) + " " + text;
      });
      return [markup(head) + " = " + tell[0](log[0] ? Math.pow(10, params[0].value[0]) : params[0].value[0])].concat(lines).join("<br>");
    };
    option.toolbox = Object.assign({ right: 0, top: 0, itemSize: 13, feature: { dataZoom: { filterMode: "none" }, restore: {}, saveAsImage: { pixelRatio: 2, name: title.replace(rich, "$2") }, myData: {
      title: "Data", icon: "path://M2 3h20v18H2z M2 9h20 M2 15h20 M9 3v18", onclick: function () {
        var a = document.createElement("a");
        a.href = "data:text/csv;charset=utf-8," + encodeURIComponent(table);
        a.download = (title.replace(rich, "$2") || "figure") + ".csv";
        a.click();
      },
    } } }, tools(false));
    // The wheel scrolls the page; with Ctrl or Cmd it zooms.
    option.dataZoom = ["xAxisIndex", "yAxisIndex"].map(function (axis) {
      var zoom = { type: "inside", filterMode: "none", zoomOnMouseWheel: "ctrl", moveOnMouseWheel: false };
      zoom[axis] = 0;
      return zoom;
    });
    return option;
  }

  // The title and the legend take as many lines as they need, and the axes begin below them.
  var legendItem = { itemWidth: 28, itemHeight: 11, itemGap: 12 }, nameLine = 13, family = "Liberation Sans, Arial, Helvetica, sans-serif";
  // Scripts in texts are written {sup|…} and {sub|…}, in ECharts' notation for rich text.
  var rich = /\{(su[bp])\|([^}]*)\}/g;
  function scripts(size) {
    return { sup: { fontSize: 0.75 * size, fontFamily: family, verticalAlign: "top" }, sub: { fontSize: 0.75 * size, fontFamily: family, verticalAlign: "bottom" } };
  }
  function markup(text) { return echarts.format.encodeHTML(text).replace(rich, "<$1>$2</$1>"); }
  function tools(shown) { return { iconStyle: { opacity: +shown } }; } // while the pointer is on the chart
  function long(text, size) { return echarts.format.getTextRect(text, size + "px " + family, "left", "top", 0, scripts(size)).width; }
  // Returns the text with line breaks, so that its lines fit into the room. A number and the last word stay together, as in "200 runs".
  function broken(text, size, room) {
    return text.split("\n").map(function (line) {
      return line.replace(/(\d) ([A-Za-z]+)$/, "$1\u00a0$2").split(" ").reduce(function (lines, word) {
        var last = lines.length - 1;
        if (last >= 0 && long(lines[last] + " " + word, size) <= room) lines[last] += " " + word;
        else lines.push(word);
        return lines;
      }, []).join("\n");
    }).join("\n");
  }
  function breaks(text) { return text.split("\n").length - 1; }
  function named(names, width) { return names.map(function (name) { return broken(name, 12, width / 2); }); } // at most half of the chart
  function widest(texts) { return Math.max.apply(null, texts.join("\n").split("\n").map(function (line) { return long(line, 12); })); }
  function head(option, width, height) {
    var line = 19, x = 0, title = broken(option.title.text || "", 15, Math.max(80, width - 100)), more = breaks(title) * line, grid = [].concat(option.grid)[0];
    var across = option.xAxis[0].name || "", up = option.yAxis[0].name || "", names = option.yAxis[0].data, lines = named(names || [], width);
    // The label of the x axis is centred below the axis, so it has the same room on both sides. The label of the y axis may take two lines.
    var labels = names ? Math.min(width / 2, 1 + widest(lines)) : option.yAxis[0].nameGap - 20, start = up && !names ? labels + 64 : +grid.left + labels + 10;
    var below = broken(across, 13, Math.max(80, width + 4 - start));
    var out = { title: { text: title, textStyle: { lineHeight: line } }, legend: {}, grid: { bottom: +grid.bottom + 17 * (breaks(below) - breaks(across)) }, xAxis: { name: below } };
    if (option.legend.show !== false && option.legend.orient !== "vertical") {
      out.legend.top = 26 + more;
      out.legend.formatter = function (name) { return broken(name, 12, width - legendItem.itemWidth - 15); };
      option.legend.data.forEach(function (item) {
        var text = out.legend.formatter(item.name), w = legendItem.itemWidth + 5 + widest([text]);
        more += 16 * breaks(text);
        if (x > 0 && x + w > width - 10) {
          more += 16 + legendItem.itemGap;
          x = 0;
        }
        x += w + legendItem.itemGap;
      });
    }
    out.grid.top = +grid.top + more;
    out.yAxis = { axisLabel: names && { formatter: function (v) { return lines[v - 1]; }, width: labels }, name: broken(up, 13, Math.max(240, height - out.grid.top) - out.grid.bottom - 24) };
    out.grid.left = +grid.left + 17 * breaks(out.yAxis.name);
    return out;
  }
  function paper(dark) { return dark ? "#1e1e1e" : "#ffffff"; }
  function theme(dark) {
    var ink = dark ? "#dddddd" : "#222222", soft = dark ? "#999999" : "#666666", faint = dark ? "#3c3c3c" : "#e4e4e4", line = { lineStyle: { color: soft } };
    var axis = {
      axisLine: { show: true, onZero: false, lineStyle: { color: soft } }, axisTick: { show: true, lineStyle: { color: soft } },
      axisLabel: { color: ink, hideOverlap: true, lineHeight: 16, rich: scripts(12) },
      nameTextStyle: { color: ink, fontSize: 13, lineHeight: 17, rich: scripts(13) }, splitLine: { showMinLine: false, showMaxLine: false, lineStyle: { color: faint } },
    };
    return {
      darkMode: dark, backgroundColor: "transparent", textStyle: { fontFamily: family },
      title: { textStyle: { color: ink, rich: scripts(15) } }, legend: { textStyle: { color: ink, lineHeight: 16, rich: scripts(12) }, pageTextStyle: { color: ink }, pageIconColor: soft, pageIconInactiveColor: faint },
      tooltip: { backgroundColor: paper(dark), borderColor: soft, textStyle: { color: ink }, axisPointer: line },
      toolbox: { iconStyle: { borderColor: soft } }, valueAxis: axis,
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
      var still = root.querySelector(".mixpolicy-static"), live = root.querySelector(".mixpolicy-live"), controls = root.parentElement.querySelector(".mixpolicy-controls");
      var inputs = controls ? [].slice.call(controls.querySelectorAll("input, select")) : [], chart, dark;
      root.setAttribute("data-live", "");
      function values(input) { return JSON.parse(input.dataset.values); }
      function frame() { // in row-major order
        return inputs.reduce(function (k, input) { return k * values(input).length + +input.value; }, 0);
      }
      function leave(top) { // for the axes, below title and legend
        var names = spec.frames[0].yAxis[0].data || [], lines = 1 + Math.max.apply(null, [0].concat(named(names, live.clientWidth).map(breaks)));
        live.style.minHeight = Math.max(240, 80 + (4 + nameLine * lines) * names.length) + top + "px";
      }
      function draw() {
        if (chart) chart.dispose();
        dark = isDark(root);
        var option = complete(spec, frame(), dark, live.clientWidth, live.clientHeight);
        leave([].concat(option.grid)[0].top);
        chart = echarts.init(live, theme(dark));
        chart.setOption(option);
        if (controls) controls.style.colorScheme = dark ? "dark" : "light";
        chart.on("datazoom", function () {
          var update = {};
          ["xAxis", "yAxis"].forEach(function (name) {
            var e = chart.getModel().getComponent(name, 0).axis.scale.getExtent(), a = spec.frames[0][name][0];
            if (a.type === "log") update[name] = [logTicks({}, e[0], e[1])];
            else if (!a.data) update[name] = [{ axisLabel: { formatter: plain(e[0], e[1]) } }];
          });
          chart.setOption(update);
        });
      }
      function fit() {
        follow();
        if (chart.getWidth() === live.clientWidth && chart.getHeight() === live.clientHeight) return;
        var top = head(Object.assign({}, spec.frames[0], spec.frames[frame()]), live.clientWidth, live.clientHeight);
        leave(top.grid.top);
        chart.resize();
        chart.setOption(top);
      }
      ["enter", "leave"].forEach(function (what) {
        live.addEventListener("pointer" + what, function () { if (chart) chart.setOption({ toolbox: tools(what === "enter") }); });
      });
      still.hidden = true;
      live.hidden = false;
      var size = new ResizeObserver(function () {
        if (live.clientWidth > 0) chart ? fit() : draw();
        else if (!root.isConnected && !root.closest(".jp-Cell, .cell")) end();
      });
      size.observe(live);
      if (controls) controls.hidden = false;
      inputs.forEach(function (input) {
        function say() {
          var text = input.parentElement.querySelector("span");
          if (!text) return; // a menu
          text.textContent = values(input)[input.value];
          input.setAttribute("aria-valuetext", text.textContent);
        }
        say(); // a browser may remember where the slider was
        input.addEventListener("input", function () {
          say();
          if (chart) chart.setOption(complete(spec, frame(), dark, live.clientWidth, live.clientHeight), { replaceMerge: ["series", "dataset"] });
        });
      });
      function follow() {
        // JupyterLab takes cells out of the page while they are out of sight.
        if (chart && root.isConnected && isDark(root) !== dark) draw();
      }
      var watch = new MutationObserver(function () { setTimeout(follow, 100); });
      [document.documentElement, document.body].forEach(function (e) {
        watch.observe(e, { attributes: true, attributeFilter: ["class", "data-theme", "data-jp-theme-light", "data-jp-theme-name"] });
      });
      var system = matchMedia("(prefers-color-scheme: dark)");
      system.addEventListener("change", follow);
      function end() { // the output was replaced, as a widget's is for every move, or its cell was run again
        size.disconnect();
        watch.disconnect();
        system.removeEventListener("change", follow);
        if (chart) chart.dispose();
        chart = null;
      }
    });
  });
}
