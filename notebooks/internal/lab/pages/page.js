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

  // The table of contents marks the section being read. On a phone it is folded, so that the page begins with its title.
  function follow() {
    document.querySelectorAll(".contents details").forEach(function (d) { d.open = innerWidth > 736; });
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

  // The lists of equations and errata show what is looked for.
  addEventListener("DOMContentLoaded", function () {
    var find = document.getElementById("find"), verdict = document.getElementById("verdict"), section = document.getElementById("section");
    if (!find) return;
    var rows = Array.from(document.querySelectorAll("[data-kind]"));
    function sift() {
      var words = find.value.toLowerCase(), shown = 0;
      rows.forEach(function (r) {
        r.hidden = (verdict.value && r.dataset.verdict !== verdict.value && r.dataset.kind !== verdict.value) ||
          (section && section.value && r.dataset.section !== section.value) || r.textContent.toLowerCase().indexOf(words) < 0;
        if (!r.hidden) shown++;
      });
      document.getElementById("count").textContent = shown + " of " + rows.length;
    }
    [find, verdict, section].forEach(function (e) { if (e) e.addEventListener("input", sift); });
    sift();
  });

  // What a link leads to is unfolded.
  function unfold() {
    var target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (var e = target; e; e = e.parentElement) if (e.tagName === "DETAILS") e.open = true;
    if (target && target.tagName === "DETAILS") target.scrollIntoView();
  }
  addEventListener("DOMContentLoaded", unfold);
  addEventListener("hashchange", unfold);

  function load(url, integrity) {
    return new Promise(function (resolve, reject) {
      var script = document.createElement("script");
      if (integrity) {
        script.integrity = integrity;
        script.crossOrigin = "anonymous";
      }
      script.src = url;
      script.onload = resolve;
      script.onerror = reject;
      document.head.append(script);
    });
  }

  // Charts become live as the reader nears them.
  addEventListener("DOMContentLoaded", function () {
    var near = new IntersectionObserver(function (entries) {
      entries.forEach(function (e) {
        if (!e.isIntersecting) return;
        near.unobserve(e.target);
        load(e.target.dataset.later);
      });
    }, { rootMargin: "1000px" });
    document.querySelectorAll("[data-later]").forEach(function (e) { near.observe(e); });
  });

  // The search of all pages. Its script and its index are had when it is first opened.
  addEventListener("DOMContentLoaded", function () {
    var dialog = document.getElementById("search"), button = document.getElementById("open-search");
    var input = dialog.querySelector("input"), told = dialog.querySelector("output"), list = dialog.querySelector("ol"), index;
    button.hidden = false;
    function open() {
      if (dialog.open) return;
      dialog.showModal();
      input.select();
      index = index || load(dialog.dataset.script, dialog.dataset.integrity).then(function () { return load("search.js"); }).then(function () {
        var search = new MiniSearch({
          fields: ["title", "page", "text"], storeFields: ["title", "page", "text"],
          // 3.22 is one word, and so is ‖λ*‖₂ without its signs
          tokenize: function (text) { return text.match(/[\p{L}\p{N}]+(?:[.\-][\p{L}\p{N}]+)*/gu) || []; },
          searchOptions: { boost: { title: 3 }, combineWith: "AND", prefix: true, fuzzy: function (term) { return /^\p{L}{5,}$/u.test(term) && 0.2; } },
        });
        search.addAll(window.passages);
        return search;
      });
      index.then(show, function () {
        index = null;
        told.textContent = "The search can't be loaded.";
      });
    }
    function show(search) {
      var found = search.search(input.value);
      told.textContent = input.value.trim() ? found.length + " found" : "";
      list.replaceChildren.apply(list, found.slice(0, 20).map(function (f) {
        var item = document.createElement("li"), link = document.createElement("a"), page = document.createElement("small");
        link.href = f.id;
        link.textContent = f.title;
        page.textContent = f.page + ": " + excerpt(f.text, f.terms);
        item.append(link, page);
        return item;
      }));
    }
    function excerpt(text, terms) {
      var at = Math.max(0, text.toLowerCase().indexOf(terms[0]) - 60);
      return (at ? "… " : "") + text.slice(at, at + 160) + (text.length > at + 160 ? " …" : "");
    }
    button.addEventListener("click", open);
    input.addEventListener("input", function () { if (index) index.then(show); });
    list.addEventListener("click", function (e) { if (e.target.closest("a")) dialog.close(); });
    document.addEventListener("keydown", function (e) {
      if (e.key === "/" && !e.ctrlKey && !e.metaKey && !e.altKey && !e.target.closest("input, select, textarea")) {
        e.preventDefault();
        open();
      }
    });
    dialog.addEventListener("keydown", function (e) { // arrows go through what was found, Enter opens the first
      var links = Array.from(list.querySelectorAll("a")), at = links.indexOf(document.activeElement);
      if (e.key === "ArrowDown" && links[at + 1]) links[at + 1].focus();
      else if (e.key === "ArrowUp" && at >= 0) (links[at - 1] || input).focus();
      else if (e.key === "Enter" && document.activeElement === input) { if (links[0]) links[0].click(); }
      else return;
      e.preventDefault();
    });
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
        load("cards.js").then(function () { show(link); });
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

  // On paper everything is open but imports, and a page says when it was printed.
  var folded = [];
  addEventListener("beforeprint", function () {
    document.querySelectorAll(".printed").forEach(function (p) { p.dataset.date = new Date().toISOString().slice(0, 10); });
    folded = Array.from(document.querySelectorAll("details:not([open]):not(.imports)"));
    folded.forEach(function (d) { d.open = true; });
    document.querySelectorAll("img").forEach(function (e) { e.loading = "eager"; });
  });
  addEventListener("afterprint", function () {
    folded.forEach(function (d) { d.open = false; });
  });

  // What is wider than its place is scrolled by the keyboard too.
  function reach() {
    document.querySelectorAll("mjx-container, .map, .markdown > table, .stated, .highlight, .outputs > *, main p, main ul, main ol, main dd, main h3, main h4").forEach(function (e) {
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
