/* SPDX-License-Identifier: Apache-2.0
 *
 * Figures are drawn for white paper, and stay on it in the dark: turned round, the deepest cell of a
 * map would be the brightest.
 */
#include "publish/page.h"

const char page_style[] =
    ":root{color-scheme:light dark;--ink:#1a1a1a;--soft:#5a5a5a;--paper:#fff;--line:#d8d8d8;"
    "--code:#f2f2f2;--faster:#00694d;--slower:#a34700}\n"
    "@media(prefers-color-scheme:dark){:root{--ink:#e6e6e6;--soft:#a6a6a6;--paper:#000;"
    "--line:#3a3a3a;--code:#1c1c1c;--faster:#4fd0a5;--slower:#ff9a57}svg{filter:brightness(.85)}}\n"
    "*{box-sizing:border-box}\n"
    "body{margin:0 auto;max-width:80rem;padding:1rem;font:1rem/1.45 system-ui,sans-serif;"
    "color:var(--ink);background:var(--paper);overflow-wrap:anywhere}\n"
    "h1{font-size:1.1rem;margin:0;color:var(--soft)}h2{font-size:1.25rem;margin-top:2.5rem;"
    "border-bottom:1px solid var(--line)}h3{font-size:1rem}\n"
    ".advice{font-size:1.35rem;line-height:1.3;margin:.6rem 0}\n"
    "a{color:inherit}h2 a{text-decoration:none;color:var(--soft)}nav a{margin-right:1rem}"
    ".soft{color:var(--soft)}\n"
    ".answer{display:flex;flex-wrap:wrap;gap:1rem;align-items:flex-start}"
    ".answer .wide{flex:3 1 30rem;min-width:0}.answer figure{flex:1 1 20rem}\n"
    ".figures{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(22rem,100%),1fr));"
    "gap:1rem}\n"
    "figure{margin:0;min-width:0}svg{width:100%;height:auto;display:block;background:#fff}\n"
    "figcaption{font-size:.8rem;color:var(--soft)}figcaption details{display:inline}\n"
    ".wide{overflow-x:auto;max-width:100%}\n"
    "table{border-collapse:collapse;font-size:.85rem;font-variant-numeric:tabular-nums}\n"
    "th,td{text-align:left;padding:.2rem .6rem .2rem 0;border-bottom:1px solid var(--line);"
    "vertical-align:top;white-space:nowrap}.sort th{cursor:pointer}\n"
    "td.n,th.n{text-align:right}td.long{white-space:normal;min-width:14rem;color:var(--soft)}\n"
    "td.say{white-space:normal;min-width:11rem}.sort{width:100%}nav{margin:.6rem "
    "0}td.faster{color:var(--faster);font-weight:600}td.slower{color:var(--slower)}\n"
    "details{margin:.6rem 0}summary{cursor:pointer}code{font-size:.9em}\n"
    ".cmd{background:var(--code);padding:.1rem .3rem;border-radius:.2rem}"
    "button{margin-left:.3rem;font-size:.75rem}\n"
    "@media(max-width:40rem){.answer th,.answer td{white-space:normal;overflow-wrap:normal;"
    "font-size:.75rem;padding-right:.4rem}.answer td.say{min-width:5rem}}\n"
    "@media print{details>*{display:block}button{display:none}svg{filter:none}}\n";

/* Copies a command, and sorts a table by the column whose heading is clicked: the first one as it was,
 * numbers as numbers. */
const char page_script[] =
    "document.querySelectorAll('.cmd').forEach(c=>{const b=document.createElement('button');"
    "b.textContent='copy';b.onclick=()=>{getSelection().selectAllChildren(c);"
    "document.execCommand('copy')};c.after(b)});\n"
    "document.querySelectorAll('.sort').forEach(t=>{const rows=[...t.tBodies[0].rows];"
    "t.querySelectorAll('th').forEach((h,i)=>{let up=1;h.onclick=()=>{up=-up;"
    "const v=r=>i?r.cells[i].textContent:''+rows.indexOf(r),n=r=>parseFloat(v(r));"
    "[...rows].sort((a,b)=>-up*(isNaN(n(a)-n(b))?v(a).localeCompare(v(b)):n(a)-n(b)))"
    ".forEach(r=>t.tBodies[0].append(r))}})});\n";
