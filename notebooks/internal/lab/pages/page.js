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
    fold();
  });

  // One switch hides the code of a page, and shows it.
  function fold() {
    var button = document.getElementById("code");
    if (!button) return;
    button.hidden = false;
    button.addEventListener("click", function () {
      var shown = root.dataset.code === "hidden";
      root.dataset.code = shown ? "shown" : "hidden";
      button.setAttribute("aria-pressed", shown);
    });
  }

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
    var rows = Array.from(document.querySelectorAll("[data-verdict]"));
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

  // A link to an equation shows its card: under the pointer, with the focus, or at the first tap.
  addEventListener("DOMContentLoaded", function () {
    if (!HTMLElement.prototype.showPopover || !document.querySelector("[data-card]")) return;
    var card = document.createElement("div");
    card.className = "card";
    card.role = "note";
    card.popover = "auto"; // Escape and a tap elsewhere hide it
    var at = null, before = null, touch = false, tab = false, later = 0;

    function linkOf(e) { return e.target.closest && e.target.closest("[data-card]"); }
    function show(link) {
      clearTimeout(later);
      if (at === link) return;
      if (!window.cards) {
        var script = document.createElement("script");
        script.src = "cards.js";
        script.onload = function () { show(link); };
        document.head.append(script);
        return;
      }
      if (at) card.hidePopover();
      at = link;
      card.innerHTML = window.cards[link.dataset.card];
      card.setAttribute("aria-label", link.textContent);
      link.after(card); // so that Tab goes on into the card
      card.showPopover();
      place();
      if (window.MathJax.typesetPromise) window.MathJax.typesetPromise([card]).then(place).then(reach);
    }
    function place() {
      if (!at) return;
      var r = at.getBoundingClientRect(), w = card.offsetWidth, h = card.offsetHeight;
      card.style.left = Math.max(8, Math.min(r.left, innerWidth - w - 8)) + "px";
      card.style.top = Math.max(8, r.bottom + 4 + h > innerHeight && r.top > h ? r.top - h - 4 : Math.min(r.bottom + 4, innerHeight - h - 8)) + "px";
    }
    function soon(f) { clearTimeout(later); later = setTimeout(f, 200); }
    function hide() { if (at) card.hidePopover(); }

    card.addEventListener("toggle", function (e) { if (e.newState === "closed") at = null; });
    document.addEventListener("pointerover", function (e) {
      var link = linkOf(e);
      if (e.pointerType === "touch") return;
      if (link) soon(function () { show(link); });
      else if (card.contains(e.target)) clearTimeout(later);
      else soon(hide);
    });
    document.addEventListener("focusin", function (e) {
      var link = linkOf(e);
      if (link && tab) show(link); // and not if an address has led to it
      else if (!card.contains(e.target)) hide();
    });
    document.addEventListener("keydown", function (e) { tab = e.key === "Tab"; }, true);
    document.addEventListener("pointerdown", function (e) { tab = false; touch = e.pointerType === "touch"; before = at; }, true);
    document.addEventListener("click", function (e) {
      var link = linkOf(e);
      if (!link || !touch || before === link) return;
      e.preventDefault();
      show(link);
    });
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

  // What is wider than its place is scrolled by the keyboard too.
  function reach() {
    document.querySelectorAll("mjx-container, .stated, .highlight, .outputs > *, main p, main ul, main ol").forEach(function (e) {
      if (e.scrollWidth > e.clientWidth && getComputedStyle(e).overflowX === "auto") e.tabIndex = 0;
    });
  }
  addEventListener("resize", reach);

  window.MathJax = {
    startup: { pageReady: function () { return MathJax.startup.defaultPageReady().then(reach); } },
    tex: {
      inlineMath: [["$", "$"], ["\\(", "\\)"]],
      displayMath: [["$$", "$$"], ["\\[", "\\]"]],
      processEscapes: true,
    },
    svg: { fontCache: "global" },
    options: { enableMenu: false },
  };
})();
