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
