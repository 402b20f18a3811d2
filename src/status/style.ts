/** Its own custom properties begin with `--steadfetch-status-`. */
export const CSS = `
:host{display:contents;
--bg:var(--steadfetch-status-background,#fff8e6);--fg:var(--steadfetch-status-color,#4a3200);
--line:var(--steadfetch-status-border,#e3c77d);--link:var(--steadfetch-status-accent,#6b4700)}
@media (prefers-color-scheme:dark){:host{
--bg:var(--steadfetch-status-background,#2b2414);--fg:var(--steadfetch-status-color,#f3e3b8);
--line:var(--steadfetch-status-border,#5c4a1d);--link:var(--steadfetch-status-accent,#ffd879)}}
:host([shown]){display:inline-block}
:host([hidden]),:host(:not([shown])) [part=box],[hidden]{display:none!important}
[part=box]{display:inline-flex;gap:.5em;align-items:center;padding:.4em .75em;
font:var(--steadfetch-status-font,500 .875rem/1.4 system-ui,sans-serif);
color:var(--fg);background:var(--bg);border:1px solid var(--line);border-radius:var(--steadfetch-status-radius,999px)}
button{position:relative;margin:0 0 0 .4em;padding:.15em .25em;font:inherit;font-weight:600;color:var(--link);background:none;border:0;border-radius:4px;
text-decoration:underline;cursor:pointer}
button:before{content:"\\b7";content:"\\b7"/"";position:absolute;left:-.7em}
button:focus-visible{outline:2px solid var(--link);outline-offset:1px}
.said{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}`;
