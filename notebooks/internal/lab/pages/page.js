(function () {
  var root = document.documentElement;
  var system = matchMedia("(prefers-color-scheme: dark)");
  var chosen = null;
  try { chosen = localStorage.getItem("theme"); } catch (e) { /* a page opened from disk may have no storage */ }

  function show() {
    root.dataset.theme = chosen || (system.matches ? "dark" : "light");
  }
  show();
  system.addEventListener("change", show);

  document.addEventListener("DOMContentLoaded", function () {
    var button = document.getElementById("theme");
    button.hidden = false;
    button.addEventListener("click", function () {
      chosen = root.dataset.theme === "dark" ? "light" : "dark";
      try { localStorage.setItem("theme", chosen); } catch (e) { /* as above */ }
      show();
    });
    follow();
  });

  // The table of contents marks the section being read.
  function follow() {
    var entries = Array.from(document.querySelectorAll(".contents a"));
    var targets = entries.map(function (a) { return document.getElementById(decodeURIComponent(a.hash.slice(1))); });
    if (!entries.length) return;
    function mark() {
      var current = 0;
      targets.forEach(function (t, i) { if (t && t.getBoundingClientRect().top < 120) current = i; });
      entries.forEach(function (a, i) { a.toggleAttribute("aria-current", i === current); });
    }
    addEventListener("scroll", function () { requestAnimationFrame(mark); }, { passive: true });
    mark();
  }

  // The index of equations shows what is looked for.
  addEventListener("DOMContentLoaded", function () {
    var find = document.getElementById("find"), verdict = document.getElementById("verdict");
    if (!find) return;
    var rows = Array.from(document.querySelectorAll("tr[data-verdict]"));
    function sift() {
      var words = find.value.toLowerCase(), shown = 0;
      rows.forEach(function (r) {
        r.hidden = (verdict.value && r.dataset.verdict !== verdict.value && r.dataset.kind !== verdict.value) || r.textContent.toLowerCase().indexOf(words) < 0;
        if (!r.hidden) shown++;
      });
      document.getElementById("count").textContent = shown + " of " + rows.length;
    }
    find.addEventListener("input", sift);
    verdict.addEventListener("input", sift);
    sift();
  });

  // The map of the paper, where ECharts is to be had: it shows what belongs to an entry, and opens it.
  addEventListener("load", function () {
    var data = document.getElementById("map");
    if (!data || !window.echarts) return;
    var live = document.querySelector(".map .mixpolicy-live"), still = document.querySelector(".map .mixpolicy-static");
    var links = {};
    still.querySelectorAll("a").forEach(function (a) { links[a.querySelector("text").textContent] = a.getAttribute("href"); });
    live.hidden = false;
    still.style.display = "none";
    var map = echarts.init(live);
    var option = JSON.parse(data.textContent), view = still.viewBox.baseVal;
    Object.assign(option.series[0], { left: 40, top: 25, width: view.width - 80, height: view.height - 75 }); // as the still picture
    map.setOption(option);
    function ink() { map.setOption({ series: [{ label: { color: getComputedStyle(document.body).color } }] }); }
    ink();
    document.getElementById("theme").addEventListener("click", ink);
    map.on("click", function (e) { if (links[e.name]) location.href = links[e.name]; });
  });

  // On paper everything is open.
  var folded = [];
  addEventListener("beforeprint", function () {
    folded = Array.from(document.querySelectorAll("details:not([open])"));
    folded.forEach(function (d) { d.open = true; });
  });
  addEventListener("afterprint", function () {
    folded.forEach(function (d) { d.open = false; });
  });

  window.MathJax = {
    tex: {
      inlineMath: [["$", "$"], ["\\(", "\\)"]],
      displayMath: [["$$", "$$"], ["\\[", "\\]"]],
      processEscapes: true,
    },
    svg: { fontCache: "global" },
    options: { enableMenu: false },
  };
})();
