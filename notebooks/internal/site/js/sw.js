"use strict";
// The service worker of the site: what a reader has seen of it is there without a network. With one, the network has the first
// word, so nothing is older than the site. It leaves the engine to the browser's own cache, in which Chromium keeps the machine
// code that it makes of it, and JupyterLite to itself.
const name = "mixpolicy " + registration.scope, root = new URL(registration.scope).pathname;
const ours = ({ method, url }) => method === "GET" && url.startsWith(registration.scope) && !/\.gz$|\/lite\//.test(url.replace(/[?#].*/, ""));

async function fresh(request) {
  const response = await fetch(request);
  if (response.ok) await (await caches.open(name)).put(request, response.clone());
  return response;
}
addEventListener("install", () => skipWaiting());
addEventListener("activate", (e) => e.waitUntil(clients.claim()));
addEventListener("fetch", (e) => {
  if (ours(e.request)) e.respondWith(fresh(e.request).catch(async () => await caches.match(e.request, { cacheName: name }) ?? Response.error()));
});
// A page that came before tells what it is made of.
addEventListener("message", (e) => {
  const parts = e.data.map((url) => new Request(url)).filter(ours);
  e.waitUntil(Promise.all(parts.map(async (part) => await caches.match(part, { cacheName: name }) || fresh(part).catch(() => {}))));
});
