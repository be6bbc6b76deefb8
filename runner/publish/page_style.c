/* SPDX-License-Identifier: Apache-2.0
 *
 * Figures are drawn on white: in the dark their lightness is turned round, and their hues back.
 */
#include "publish/page.h"

const char page_style[] =
    ":root{color-scheme:light dark;--ink:#1a1a1a;--soft:#5a5a5a;--paper:#fff;--line:#d8d8d8;"
    "--faster:#00694d;--slower:#a34700}\n"
    "@media(prefers-color-scheme:dark){:root{--ink:#e6e6e6;--soft:#a6a6a6;--paper:#000;"
    "--line:#3a3a3a;--faster:#4fd0a5;--slower:#ff9a57}"
    "svg{filter:invert(1) hue-rotate(180deg)}}\n"
    "*{box-sizing:border-box}\n"
    "body{margin:0 auto;max-width:80rem;padding:1rem;font:1rem/1.45 system-ui,sans-serif;"
    "color:var(--ink);background:var(--paper);overflow-wrap:anywhere}\n"
    "h1{font-size:1.5rem}h2{font-size:1.25rem;margin-top:2.5rem;border-bottom:1px solid "
    "var(--line)}h3{font-size:1rem}\n"
    "a{color:inherit}nav a{margin-right:1rem}.soft{color:var(--soft)}\n"
    ".figures{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(22rem,100%),1fr));"
    "gap:1rem}\n"
    "figure{margin:0;min-width:0}svg{width:100%;height:auto;display:block}\n"
    "figcaption{font-size:.8rem;color:var(--soft)}\n"
    ".wide{overflow-x:auto;max-width:100%}\n"
    "table{border-collapse:collapse;font-size:.85rem;font-variant-numeric:tabular-nums}\n"
    "th,td{text-align:left;padding:.2rem .6rem .2rem 0;border-bottom:1px solid var(--line);"
    "vertical-align:top;white-space:nowrap}\n"
    "td.n,th.n{text-align:right}td.long{white-space:normal;min-width:14rem;color:var(--soft)}\n"
    "td.faster{color:var(--faster);font-weight:600}td.slower{color:var(--slower)}\n"
    "details{margin:.8rem 0}summary{cursor:pointer}code{font-size:.9em}\n"
    "@media print{details>*{display:block}svg{filter:none}}\n";
