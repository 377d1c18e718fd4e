"use strict";
// The service worker of the site. It makes the parts of the site that a reader has seen available without a network. When there is a
// network, the worker asks the network first, so no part is older than the site. It leaves the engine to the browser's own cache, in
// which Chromium also keeps the machine code of the engine. It does not touch JupyterLite.
const files = new Set(FILES); // the builder puts the names of the site's files here
const { scope } = registration, kept = () => caches.open("mixpolicy " + scope);
const named = (url) => decodeURI(url.slice(scope.length).replace(/[?#].*/, "")) || "index.html";
const ours = ({ method, url }) => method === "GET" && url.startsWith(scope) && !/\.gz$|^lite\//.test(named(url));
async function fresh(request) {
  const response = await fetch(request);
  if (response.ok) await (await kept()).put(request, response.clone());
  return response;
}
// tidy removes the files of another version. It fetches again the pages that the reader has seen, because these pages name removed files.
async function tidy() {
  for (const { url } of await (await kept()).keys()) {
    if (!files.has(named(url))) await (await kept()).delete(url);
    else if (/\.html$/.test(named(url))) fresh(url).catch(() => {});
  }
}
addEventListener("install", () => skipWaiting());
addEventListener("activate", (e) => e.waitUntil(Promise.all([clients.claim(), tidy()])));
addEventListener("fetch", (e) => {
  if (ours(e.request)) e.respondWith(fresh(e.request).catch(async () => await (await kept()).match(e.request) ?? Response.error()));
});
// A page that was loaded before this worker started tells the worker the addresses of the page's parts.
addEventListener("message", (e) => {
  const parts = e.data.map((url) => new Request(url)).filter(ours);
  e.waitUntil(Promise.all(parts.map(async (part) => await (await kept()).match(part) || fresh(part).catch(() => {}))));
});
