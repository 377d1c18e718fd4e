// Package echarts names the ECharts bundle that draws the interactive charts, and loads the bundle into any page with a
// chart.
//
// Neither this repository nor any notebook contains the bundle. The set-up of the notebooks fetches the bundle from npm
// and checks it. JupyterLab serves the bundle, and exported pages have a copy next to them. A page without such a copy
// loads the bundle from [CDN], and the browser checks the bundle against [Integrity].
//
// # The HTML of a chart
//
// A chart is one piece of HTML that contains everything except the bundle. A chart includes a static picture, so it is
// never empty, even without scripts, in a notebook that is not yet trusted, or on paper.
//
//	<div class="mixpolicy-chart" data-figure="KEY">
//	  <img class="mixpolicy-static" alt="…" src="data:image/svg+xml;base64,…">
//	  <div class="mixpolicy-live" style="…" hidden></div>
//	</div>
//	<script>
//	(window.mixpolicyCharts = window.mixpolicyCharts || []).push(function () {
//	  // hide the img, show the div, echarts.init(div).setOption(…)
//	});
//	LOADER
//	</script>
//
// LOADER stands for [Loader], a script of about 1.6 kB that may occur any number of times in a page. Unless the page
// has already loaded the bundle, [Loader] fetches the bundle once, or again after a failure. [Loader] then calls every
// pushed function exactly once, even a function that is pushed later. On paper, style sheets show elements of the class
// mixpolicy-static and hide elements of the class mixpolicy-live, whatever scripts have done.
//
// # Light and dark
//
// Exported pages name their theme in the attribute data-theme ("light" or "dark") of the html element. JupyterLab sets
// the attribute data-jp-theme-light of the body element to "true" or "false". A chart that watches these attributes
// follows the reader's choice.
package echarts

import (
	_ "embed"
	"strings"
)

// Package and Version name the npm package that holds the bundle.
const (
	Package = "echarts"
	Version = "5.6.0"
)

// File is the name of the bundle's file on every server.
const File = "echarts.min.js"

// Integrity is the bundle's digest in the form of Subresource Integrity.
const Integrity = "sha384-pPi0zxBAoDu6+JXW/C68UZLvBUUtU+7zonhif43rqj7pxsGyqyqzcian2Rj37Rss"

// CDN is the address of the bundle for a page that finds no nearer copy.
const CDN = "https://cdn.jsdelivr.net/npm/" + Package + "@" + Version + "/dist/" + File

//go:embed loader.js
var loader string

// Loader is the script, without its tags, that calls the functions in window.mixpolicyCharts as soon as window.echarts
// exists. The script loads the bundle if nothing else has loaded it.
var Loader = strings.NewReplacer("{{FILE}}", File, "{{CDN}}", CDN, "{{INTEGRITY}}", Integrity).Replace(loader)
