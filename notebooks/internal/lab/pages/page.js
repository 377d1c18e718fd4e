(() => {
  const root = document.documentElement, system = matchMedia("(prefers-color-scheme: dark)");
  let chosen = null;
  try { chosen = localStorage.getItem("theme"); } catch { /* a page opened from disk may have no storage */ }

  // ready calls f when the text has arrived. MathJax and ECharts may arrive much later.
  const ready = (f) => document.addEventListener("readystatechange", f, { once: true });
  const all = (selector, e = document) => [...e.querySelectorAll(selector)];
  const named = (id) => document.getElementById(id), target = (hash) => named(decodeURIComponent(hash.slice(1)));

  function show() { root.dataset.theme = chosen || (system.matches ? "dark" : "light"); }
  show();
  system.addEventListener("change", show);
  // on shows the button with this id, and calls click when the button is pressed.
  function on(id, click) {
    const button = named(id);
    if (!button) return;
    button.hidden = false;
    button.addEventListener("click", click);
  }
  ready(() => {
    on("theme", () => {
      chosen = root.dataset.theme === "dark" ? "light" : "dark";
      try { localStorage.setItem("theme", chosen); } catch { /* as above */ }
      show();
    });
    on("code", (e) => { // one switch hides the code of a page, and shows it
      const shown = root.dataset.code === "hidden";
      root.dataset.code = shown ? "shown" : "hidden";
      e.currentTarget.setAttribute("aria-pressed", shown);
    });

    // The table of contents marks the section being read. On a phone it is folded, so that the page begins with its title.
    all(".contents details").forEach((d) => { d.open = innerWidth > 736; });
    const entries = all(".contents a"), targets = entries.map((a) => target(a.hash));
    function mark() {
      const current = Math.max(0, targets.findLastIndex((t) => t?.getBoundingClientRect().top < 120));
      entries.forEach((a, i) => a.toggleAttribute("aria-current", i === current));
    }
    addEventListener("scroll", () => requestAnimationFrame(mark), { passive: true });
    mark();

    // The lists of equations and errata show only the entries that match the filter.
    const find = named("find"), verdict = named("verdict"), section = named("section"), rows = all("[data-kind]");
    function sift() {
      const words = find.value.toLowerCase();
      for (const r of rows) {
        r.hidden = verdict.value && r.dataset.verdict !== verdict.value && r.dataset.kind !== verdict.value ||
          section?.value && r.dataset.section !== section.value || !r.textContent.toLowerCase().includes(words);
      }
      named("count").textContent = `${rows.filter((r) => !r.hidden).length} of ${rows.length}`;
    }
    if (find) [find, verdict, section].forEach((e) => e?.addEventListener("input", sift)), sift();
  });

  // Unfolds the target of a link.
  function unfold() {
    const to = target(location.hash);
    for (let e = to; e; e = e.parentElement) if (e.tagName === "DETAILS") e.open = true;
    if (to?.tagName === "DETAILS") to.scrollIntoView();
  }
  ready(unfold);
  addEventListener("hashchange", unfold);

  const load = (src, integrity) => new Promise((onload, onerror) => {
    document.head.append(Object.assign(document.createElement("script"), integrity && { integrity, crossOrigin: "anonymous" }, { src, onload, onerror }));
  });

  // Charts become live as the reader nears them, but only once the page has loaded ECharts: otherwise, each would fetch ECharts.
  document.addEventListener("DOMContentLoaded", () => {
    const near = new IntersectionObserver((entries) => entries.filter((e) => e.isIntersecting).forEach((e) => {
      near.unobserve(e.target);
      load(e.target.dataset.later);
    }), { rootMargin: "1000px" });
    all("[data-later]").forEach((e) => near.observe(e));
  });

  // The search of all pages. The script and the index of the search are fetched when the reader first opens it.
  ready(() => {
    const dialog = named("search"), [input, told, list] = ["input", "output", "ol"].map((name) => dialog.querySelector(name));
    let index;
    async function fetched() {
      await load(dialog.dataset.script, dialog.dataset.integrity);
      await load("search.js");
      const search = new MiniSearch({
        fields: ["title", "page", "text"], storeFields: ["title", "page", "text"],
        // 3.22 is one word, and so is ‖λ*‖₂ without its signs
        tokenize: (text) => text.match(/[\p{L}\p{N}]+(?:[.\-][\p{L}\p{N}]+)*/gu) || [],
        searchOptions: { boost: { title: 3 }, combineWith: "AND", prefix: true, fuzzy: (term) => /^\p{L}{5,}$/u.test(term) && 0.2 },
      });
      search.addAll(window.passages);
      return search;
    }
    function open() {
      if (dialog.open) return;
      dialog.showModal();
      input.select();
      index ||= fetched();
      index.then(show, () => {
        index = null;
        told.textContent = "The search can't be loaded.";
      });
    }
    function show(search) {
      const found = search.search(input.value);
      told.textContent = input.value.trim() ? found.length + " found" : "";
      list.replaceChildren(...found.slice(0, 20).map((f) => {
        const [item, link, page] = ["li", "a", "small"].map((name) => document.createElement(name));
        Object.assign(link, { href: f.id, textContent: f.title });
        page.textContent = f.page + ": " + excerpt(f.text, f.terms);
        item.append(link, page);
        return item;
      }));
    }
    function excerpt(text, terms) {
      const at = Math.max(0, text.toLowerCase().indexOf(terms[0]) - 60);
      return (at ? "… " : "") + text.slice(at, at + 160) + (text.length > at + 160 ? " …" : "");
    }
    on("open-search", open);
    input.addEventListener("input", () => index?.then(show));
    list.addEventListener("click", (e) => { if (e.target.closest("a")) dialog.close(); });
    document.addEventListener("keydown", (e) => {
      if (e.key !== "/" || e.ctrlKey || e.metaKey || e.altKey || e.target.closest("input, select, textarea, [contenteditable]")) return;
      e.preventDefault();
      open();
    });
    dialog.addEventListener("keydown", (e) => { // arrows move through the results, and Enter opens the first
      const links = all("a", list), at = links.indexOf(document.activeElement);
      if (e.key === "ArrowDown" && links[at + 1]) links[at + 1].focus();
      else if (e.key === "ArrowUp" && at >= 0) (links[at - 1] || input).focus();
      else if (e.key === "Enter" && document.activeElement === input) links[0]?.click();
      else return;
      e.preventDefault();
    });
  });

  // The map of the paper, if ECharts is available. It shows what an entry rests on and what rests on it, and a click opens the entry.
  addEventListener("load", () => {
    const data = named("map");
    if (!data || !window.echarts) return;
    const live = document.querySelector(".map .mixpolicy-live"), still = document.querySelector(".map .mixpolicy-static");
    const links = new Map(all("a", still).map((a) => [a.querySelector("text").textContent, a.getAttribute("href")]));
    live.hidden = false;
    still.style.display = "none";
    const map = echarts.init(live), option = JSON.parse(data.textContent), view = still.viewBox.baseVal;
    Object.assign(option.series[0], { left: 40, top: 25, width: view.width - 80, height: view.height - 75 }); // as the still picture
    map.setOption(option);
    const ink = () => map.setOption({ series: [{ label: { color: getComputedStyle(document.body).color }, emphasis: { lineStyle: { opacity: 0.9, width: 1.5 } } }] });
    ink();
    named("theme").addEventListener("click", ink);
    map.on("click", (e) => { if (links.has(e.name)) location.href = links.get(e.name); });
  });

  // A link to an equation shows its card: under the pointer, with the focus, or at the first tap.
  ready(() => {
    if (!HTMLElement.prototype.showPopover || !document.querySelector("[data-card]")) return;
    const card = Object.assign(document.createElement("div"), { className: "card", role: "note", popover: "auto" }); // Escape and a tap elsewhere hide it
    let at = null, before = null, touch = false, tab = false, later = 0;

    const linkOf = (e) => e.target.closest?.("[data-card]");
    function show(link) {
      clearTimeout(later);
      if (at === link) return;
      if (!window.cards) return void load("cards.js").then(() => show(link));
      hide();
      at = link;
      card.innerHTML = window.cards[link.dataset.card];
      card.ariaLabel = link.textContent;
      link.after(card); // so that Tab goes on into the card
      card.showPopover();
      place();
      window.MathJax.typesetPromise?.([card]).then(place).then(reach);
    }
    function place() {
      if (!at) return;
      const r = at.getBoundingClientRect(), w = card.offsetWidth, h = card.offsetHeight;
      card.style.left = Math.max(8, Math.min(r.left, innerWidth - w - 8)) + "px";
      card.style.top = Math.max(8, r.bottom + 4 + h > innerHeight && r.top > h ? r.top - h - 4 : Math.min(r.bottom + 4, innerHeight - h - 8)) + "px";
    }
    function soon(f) { clearTimeout(later); later = setTimeout(f, 200); }
    function hide() { if (at) card.hidePopover(); }

    card.addEventListener("toggle", (e) => { if (e.newState === "closed") at = null; });
    document.addEventListener("pointerover", (e) => {
      const link = linkOf(e);
      if (e.pointerType === "touch") return;
      if (link) soon(() => show(link));
      else if (card.contains(e.target)) clearTimeout(later);
      else soon(hide);
    });
    document.addEventListener("focusin", (e) => {
      const link = linkOf(e);
      if (link && tab) show(link); // not if the page's address has moved the focus to the link
      else if (!card.contains(e.target)) hide();
    });
    document.addEventListener("keydown", (e) => { tab = e.key === "Tab"; }, true);
    document.addEventListener("pointerdown", (e) => { tab = false; touch = e.pointerType === "touch"; before = at; }, true);
    document.addEventListener("click", (e) => {
      const link = linkOf(e);
      if (!link || !touch || before === link) return;
      e.preventDefault();
      show(link);
    });
  });

  // On paper, everything but imports is open, and a page says when it was printed.
  let folded = [];
  addEventListener("beforeprint", () => {
    all(".printed").forEach((p) => { p.dataset.date = new Date().toISOString().slice(0, 10); });
    folded = all("details:not([open]):not(.imports)");
    folded.forEach((d) => { d.open = true; });
    all("img").forEach((e) => { e.loading = "eager"; });
  });
  addEventListener("afterprint", () => folded.forEach((d) => { d.open = false; }));

  // Elements that are wider than their place can also be scrolled by the keyboard.
  function reach() {
    for (const e of all("mjx-container, .map, .markdown > table, .stated, .highlight, .outputs > *, main p, main ul, main ol, main dd, main h3, main h4")) {
      if (e.scrollWidth > e.clientWidth && getComputedStyle(e).overflowX === "auto") e.tabIndex = 0;
    }
  }
  addEventListener("resize", reach);

  window.MathJax = {
    startup: { pageReady: () => MathJax.startup.defaultPageReady().then(reach) },
    tex: { inlineMath: [["$", "$"], ["\\(", "\\)"]], displayMath: [["$$", "$$"], ["\\[", "\\]"]], processEscapes: true },
    svg: { fontCache: "global" },
    options: { enableMenu: false },
  };
})();
