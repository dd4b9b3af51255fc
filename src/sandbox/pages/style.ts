/** The clothes of every page: no font, image or rule from elsewhere; light and dark; one column on a phone. */
export const style = `
:root{color-scheme:light dark;--page:#f7f7f5;--card:#fff;--ink:#1d1d1b;--soft:#62625d;--line:#e2e2dc;--link:#1756b0;
--good:#17703f;--bad:#b3261e;--wait:#7f5700;--code:#f1f1ec}
@media (prefers-color-scheme:dark){:root{--page:#151517;--card:#1d1d20;--ink:#e9e9e6;--soft:#a2a29c;--line:#33333a;
--link:#8ab4f8;--good:#6fd39a;--bad:#ff9a90;--wait:#e5b95c;--code:#27272b}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0;background:var(--page);color:var(--ink);font:15px/1.5 system-ui,sans-serif}
header,main{max-width:66rem;margin:0 auto;padding:0 1.25rem}
main{padding-bottom:4rem}
.narrow{max-width:36rem}
header{display:flex;flex-wrap:wrap;gap:.25rem 1.25rem;align-items:baseline;padding-top:1rem;padding-bottom:1rem}
header strong,header strong a{color:var(--ink);text-decoration:none}
header nav{display:flex;gap:1.25rem}
#live{margin:0 0 0 auto;color:var(--bad)}
h1{font-size:1.5rem;line-height:1.25;margin:.75rem 0 .25rem;overflow-wrap:anywhere}
h2{font-size:1.05rem;margin:0}
p{margin:.5rem 0;overflow-wrap:anywhere}
a{color:var(--link);text-underline-offset:.15em}
a,button,input,summary{outline-offset:2px}
section,.card{background:var(--card);border:1px solid var(--line);border-radius:10px;margin:1.25rem 0;padding:1rem 1.25rem}
section>header{padding:0 0 .5rem;margin:0;max-width:none}
section>header a{margin-left:auto}
.soft,small,dt,th{color:var(--soft)}
small{font-size:.85rem}
.lead{color:var(--soft);max-width:46rem}
.bad{color:var(--bad)}.good{color:var(--good)}.wait{color:var(--wait)}
.badge{white-space:nowrap;font-weight:600}
.badge::before{content:"";display:inline-block;width:.55em;height:.55em;border-radius:50%;background:currentColor;margin-right:.45em}
table{border-collapse:collapse;width:100%}
th{font-weight:500;font-size:.85rem;text-align:left}
th,td{padding:.45rem .75rem .45rem 0;vertical-align:baseline;border-top:1px solid var(--line);unicode-bidi:isolate;overflow-wrap:anywhere}
thead th,thead td{border-top:0;padding-top:0}
td.fit,th.fit{white-space:nowrap;overflow-wrap:normal;width:1%}
td.fit{max-width:16rem;overflow:hidden;text-overflow:ellipsis}
td.name{width:16rem}
td.half,th.half{width:50%}
td.number,th.number{text-align:right;font-variant-numeric:tabular-nums}
td:last-child,th:last-child{padding-right:0}
time,.number{font-variant-numeric:tabular-nums}
code,pre,.mono{font:.87em/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
code{overflow-wrap:anywhere}
pre{background:var(--code);border-radius:7px;margin:.5rem 0;padding:.75rem 1rem;overflow:auto;max-height:32rem}
details>summary{cursor:pointer}
dl{display:grid;grid-template-columns:max-content minmax(0,1fr);gap:.3rem 1.25rem;margin:0}
dd{margin:0;overflow-wrap:anywhere;unicode-bidi:isolate}
dl.figures{grid-template-columns:repeat(auto-fit,minmax(12rem,1fr));gap:1rem}
dl.figures dd{font-size:1.1rem}
dl.figures .mono{font-size:1rem}
.parcel+.parcel{margin-top:1.5rem}
ol.timeline{list-style:none;margin:0;padding:0}
ol.timeline li{position:relative;padding:0 0 .8rem 1.5rem}
ol.timeline li::before{content:"";position:absolute;left:.15rem;top:.4rem;width:.6rem;height:.6rem;border-radius:50%;background:var(--good)}
ol.timeline li.bad::before{background:var(--bad)}
ol.timeline li.next::before{background:var(--card);border:2px solid var(--soft)}
ol.timeline li:not(:last-child)::after{content:"";position:absolute;left:.42rem;top:1.15rem;bottom:-.3rem;border-left:2px solid var(--line)}
ol.timeline li.bad strong{color:var(--bad)}
button{font:inherit;color:var(--ink);background:var(--card);border:1px solid var(--soft);border-radius:7px;padding:.3rem .8rem;cursor:pointer}
button:hover{border-color:var(--link);color:var(--link)}
td button{padding:.05rem .6rem;font-size:.9rem}
button.main{background:var(--link);border-color:var(--link);color:var(--page)}
button.main:hover{color:var(--page);filter:brightness(1.1)}
form{margin:0}
.actions{display:flex;flex-wrap:wrap;gap:.5rem;margin:.5rem 0 0}
label{display:block;margin:.75rem 0}
input{display:block;width:100%;font:inherit;color:inherit;background:var(--page);border:1px solid var(--soft);border-radius:7px;padding:.5rem .7rem;margin-top:.2rem}
.copied{display:flex;gap:.75rem;align-items:start}
.copied pre{user-select:all;flex:1;min-width:0;white-space:pre-wrap;overflow-wrap:anywhere}
.copied button{margin-top:.5rem}
button.copy,.js .reload{display:none}.js button.copy{display:inline-block}
@media (max-width:44rem){
header,main{padding-left:1rem;padding-right:1rem}
section,.card{padding:.9rem 1rem}
#live{margin-left:0;flex-basis:100%}
.stack thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
.stack,.stack tbody,.stack td{display:block;width:auto}
.stack tr{display:flex;flex-wrap:wrap;column-gap:1rem;border-top:1px solid var(--line);padding:.6rem 0}
.stack tbody tr:first-child{border-top:0}
.stack td{border:0;padding:.1rem 0;flex-basis:100%}
.stack td.fit{flex-basis:auto;min-width:0;max-width:none;white-space:normal;overflow-wrap:anywhere;text-align:left}
.stack td[data-label]::before{content:attr(data-label) " ";color:var(--soft);font-family:system-ui,sans-serif}
dl.figures{grid-template-columns:repeat(auto-fit,minmax(9rem,1fr))}
.copied{display:block}
dl:not(.figures){grid-template-columns:minmax(0,1fr);gap:0}
dl:not(.figures) dd{margin-bottom:.5rem}
}
@media (prefers-reduced-motion:no-preference){.js .arrived{animation:arrived 1s}@keyframes arrived{from{background:color-mix(in srgb,var(--link) 18%,transparent)}}}
`.replaceAll('\n', '');
