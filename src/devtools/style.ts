import { css } from 'lit';

const light = css`
  --page: #f5f5f2;
  --panel: #ffffff;
  --line: #e2e1db;
  --text: #1d2129;
  --soft: #5a6070;
  --accent: #2456c4;
  --hover: #f4f5f8;
  --chosen: #e6edfb;
  --good: #1b7a46;
  --good-soft: #e0f2e7;
  --bad: #b3332b;
  --bad-soft: #fbe6e4;
  --busy: #2456c4;
  --busy-soft: #e1e9fb;
  --wait: #805300;
  --wait-soft: #faeed2;
  --quiet-soft: #ececea;
  --fly: #a9bff0;
  --on-fly: #16316f;
  --on: #ffffff;
  --mute: #9298a6;
  --park: #7a4fb0;
  --shadow: 0 -1px 0 #d6d5ce, 0 -12px 32px rgb(20 22 30 / 10%);
  color-scheme: light;
`;

const dark = css`
  --page: #14161b;
  --panel: #1b1e24;
  --line: #30343e;
  --text: #e8e9ed;
  --soft: #a4abba;
  --accent: #8db0ff;
  --hover: #23262e;
  --chosen: #26324d;
  --good: #6fd09b;
  --good-soft: #17382a;
  --bad: #ff8f85;
  --bad-soft: #46201e;
  --busy: #a3c0ff;
  --busy-soft: #23335c;
  --wait: #e8bd68;
  --wait-soft: #40331a;
  --quiet-soft: #2c3038;
  --fly: #3d5596;
  --on-fly: #dfe8ff;
  --on: #10151f;
  --mute: #7d8597;
  --park: #b99ae6;
  --shadow: 0 -1px 0 #30343e, 0 -12px 32px rgb(0 0 0 / 45%);
  color-scheme: dark;
`;

export const styles = css`
  :host {
    ${light}
    --mono: ui-monospace, "SF Mono", Menlo, Consolas, "Liberation Mono", monospace;
    display: block;
    height: 28rem;
    contain: layout;
    color: var(--text);
    font: 13px / 1.4 system-ui, "Segoe UI", Roboto, "Helvetica Neue", sans-serif;
    font-variant-numeric: tabular-nums;
    text-align: start;
    /* Its words are English, and its time goes from left to right, in whichever page. */
    direction: ltr;
    letter-spacing: normal;
    text-transform: none;
  }
  @media (prefers-color-scheme: dark) {
    :host(:not([theme="light"])) {
      ${dark}
    }
  }
  :host([theme="dark"]) {
    ${dark}
  }
  :host([hidden]) {
    display: none;
  }
  :host([docked]) {
    position: fixed;
    inset: auto 0 0;
    z-index: 2147483000;
    height: auto;
    pointer-events: none;
  }
  :host([docked]) > * {
    pointer-events: auto;
  }
  *,
  ::before,
  ::after {
    box-sizing: border-box;
  }
  h2,
  h3,
  p,
  ul,
  ol,
  dl,
  dd {
    margin: 0;
    padding: 0;
  }
  ul,
  ol {
    list-style: none;
  }
  h2,
  h3 {
    font-size: inherit;
    font-weight: 600;
  }
  small {
    font-size: 12px;
    font-weight: 400;
  }
  code,
  .method,
  .subject {
    font-family: var(--mono);
    font-size: 12px;
  }
  .hidden {
    position: absolute;
    width: 1px;
    height: 1px;
    overflow: hidden;
    clip-path: inset(50%);
    white-space: nowrap;
  }
  .soft {
    color: var(--soft);
  }
  :focus-visible {
    outline: 2px solid var(--accent);
    outline-offset: -2px;
  }

  /* The rows lie on an outline of the list itself. */
  .grid:focus-visible {
    outline: 0;
  }
  .grid:focus-visible .head {
    box-shadow: inset 0 2px var(--accent);
  }
  .grid:focus-visible .is-selected {
    outline: 2px solid var(--accent);
    outline-offset: -2px;
  }

  /* Panel and bar */
  .panel {
    display: flex;
    flex-direction: column;
    position: relative;
    height: 100%;
    overflow: hidden;
    background: var(--panel);
    border: 1px solid var(--line);
    border-radius: 8px;
  }
  .panel.is-docked {
    max-height: 90vh;
    border: 0;
    border-radius: 0;
    overflow: visible;
    box-shadow: var(--shadow);
  }
  .resizer {
    position: absolute;
    z-index: 3;
    inset: -4px 0 auto;
    height: 9px;
    cursor: ns-resize;
    touch-action: none;
  }
  .resizer::after {
    content: "";
    position: absolute;
    inset: 4px calc(50% - 20px) auto;
    height: 3px;
    border-radius: 2px;
    background: var(--line);
  }
  .resizer:hover::after,
  .resizer:focus-visible::after {
    background: var(--accent);
  }
  .bar {
    display: flex;
    flex: none;
    gap: 0 20px;
    align-items: center;
    padding: 0 8px 0 12px;
    border-bottom: 1px solid var(--line);
  }
  .bar h2 {
    display: flex;
    gap: 7px;
    align-items: center;
    white-space: nowrap;
    letter-spacing: -0.01em;
  }
  .connection {
    display: inline-flex;
    gap: 6px;
    align-items: center;
    margin-inline-start: 4px;
    letter-spacing: 0;
    color: var(--soft);
  }
  [role="tablist"] {
    display: flex;
    flex: 1;
    gap: 2px;
    overflow-x: auto;
    scrollbar-width: none;
  }
  [role="tab"] {
    display: flex;
    gap: 6px;
    align-items: center;
    height: 38px;
    padding: 0 10px;
    font: inherit;
    color: var(--soft);
    white-space: nowrap;
    background: none;
    border: 0;
    border-bottom: 2px solid transparent;
    cursor: pointer;
  }
  [role="tab"]:hover {
    color: var(--text);
  }
  [role="tab"][aria-selected="true"] {
    font-weight: 600;
    color: var(--text);
    border-bottom-color: var(--accent);
  }
  .actions {
    display: flex;
    gap: 2px;
  }
  button:not([role="tab"]) {
    display: inline-flex;
    gap: 6px;
    align-items: center;
    justify-content: center;
    min-height: 26px;
    padding: 0 10px;
    font: inherit;
    font-size: 12px;
    color: var(--text);
    white-space: nowrap;
    background: var(--panel);
    border: 1px solid var(--line);
    border-radius: 6px;
    cursor: pointer;
  }
  button:not([role="tab"]):hover {
    background: var(--hover);
  }
  button.plain:not([role="tab"]) {
    min-width: 28px;
    min-height: 28px;
    padding: 0 7px;
    color: var(--soft);
    background: none;
    border-color: transparent;
  }
  button.plain:not([role="tab"]):hover {
    color: var(--text);
    background: var(--hover);
  }
  button.is-on:not([role="tab"]) {
    color: var(--accent);
    background: var(--chosen);
  }
  button.danger:not([role="tab"]) {
    font-weight: 600;
    color: var(--bad);
    background: var(--bad-soft);
    border-color: var(--bad);
  }
  .icon {
    flex: none;
    fill: none;
    stroke: currentcolor;
    stroke-width: 1.5;
    stroke-linecap: round;
    stroke-linejoin: round;
  }
  .logo {
    flex: none;
  }
  .logo .a {
    fill: var(--bad);
  }
  .logo .b {
    stroke: var(--mute);
    stroke-width: 2;
  }
  .logo .c {
    fill: var(--good);
  }
  .pill:not([role="tab"]) {
    position: absolute;
    right: 12px;
    bottom: 12px;
    gap: 7px;
    min-height: 34px;
    padding: 0 14px 0 11px;
    font-size: 13px;
    font-weight: 600;
    border-radius: 17px;
    box-shadow: 0 2px 10px rgb(20 22 30 / 18%);
  }

  /* Marks and badges */
  .mark {
    flex: none;
    width: 8px;
    height: 8px;
    border-radius: 50%;
    background: var(--mute);
  }
  .mark.good {
    background: var(--good);
  }
  .mark.bad {
    background: var(--bad);
    border-radius: 2px;
  }
  .mark.busy {
    background: none;
    border: 2px solid var(--busy);
  }
  .mark.wait {
    background: linear-gradient(90deg, var(--wait) 3px, transparent 3px 5px, var(--wait) 5px);
    border-radius: 1px;
  }
  .badge {
    display: inline-block;
    padding: 0 7px;
    font-size: 12px;
    font-weight: 600;
    line-height: 18px;
    white-space: nowrap;
    color: var(--soft);
    background: var(--quiet-soft);
    border-radius: 9px;
  }
  .badge.good {
    color: var(--good);
    background: var(--good-soft);
  }
  .badge.bad {
    color: var(--bad);
    background: var(--bad-soft);
  }
  .badge.busy {
    color: var(--busy);
    background: var(--busy-soft);
  }
  .badge.wait {
    color: var(--wait);
    background: var(--wait-soft);
  }

  /* Views */
  .view {
    display: flex;
    flex: 1;
    flex-direction: column;
    min-height: 0;
    overflow: auto;
  }
  .filters {
    display: flex;
    flex: none;
    gap: 8px;
    align-items: center;
    padding: 6px 12px;
    border-bottom: 1px solid var(--line);
  }
  .filters .count {
    margin-inline-start: auto;
    color: var(--soft);
    white-space: nowrap;
  }
  div.filters .count {
    margin-inline: 0 auto;
  }
  .search {
    display: flex;
    flex: 0 1 240px;
    align-items: center;
    min-width: 0;
    color: var(--soft);
  }
  .search .icon {
    position: absolute;
    margin-inline-start: 7px;
    pointer-events: none;
  }
  input,
  select {
    min-width: 0;
    height: 26px;
    padding: 0 6px;
    font: inherit;
    font-size: 12px;
    color: var(--text);
    background: var(--panel);
    border: 1px solid var(--line);
    border-radius: 6px;
  }
  input {
    width: 100%;
    padding-inline-start: 28px;
  }
  ::placeholder {
    color: var(--soft);
    opacity: 1;
  }
  .split {
    display: grid;
    flex: 1;
    grid-template: minmax(0, 1fr) / minmax(0, 1fr);
    min-height: 0;
  }
  .split.is-split {
    grid-template-columns: minmax(0, 1fr) clamp(260px, 32%, 440px);
  }
  .grid {
    position: relative;
    overflow: hidden auto;
    overscroll-behavior: contain;
    scrollbar-width: thin;
  }
  .cells {
    display: grid;
    grid-template-columns: 132px 52px minmax(120px, 2fr) 64px 32px 72px minmax(160px, 3fr);
    gap: 0 12px;
    align-items: center;
    height: 28px;
    padding: 0 12px;
  }
  .is-split .cells {
    grid-template-columns: 132px 52px minmax(100px, 2fr) 32px 72px minmax(120px, 3fr);
  }
  .is-split .cells .group {
    display: none;
  }
  .cells > * {
    min-width: 0;
    overflow: hidden;
    text-overflow: ellipsis;
    white-space: nowrap;
  }
  .head {
    position: sticky;
    top: 0;
    z-index: 1;
    font-size: 12px;
    color: var(--soft);
    background: var(--panel);
    border-bottom: 1px solid var(--line);
  }
  .head .subject,
  .head .method {
    font-family: inherit;
  }
  .head .cells {
    height: 26px;
  }
  .body {
    position: relative;
  }
  .body .cells {
    position: absolute;
    inset: 0 0 auto;
    cursor: default;
    border-bottom: 1px solid color-mix(in srgb, var(--line) 55%, transparent);
  }
  .body .cells:hover {
    background: var(--hover);
  }
  .body .cells.is-selected {
    background: var(--chosen);
  }
  .state {
    display: flex;
    gap: 8px;
    align-items: center;
  }
  .line-bad .state {
    color: var(--bad);
  }
  .line-good .state {
    color: var(--good);
  }
  .line-busy .state {
    color: var(--busy);
  }
  .line-wait .state {
    color: var(--wait);
  }
  .is-notice .subject {
    color: var(--soft);
  }
  .method {
    color: var(--soft);
  }
  .subject small {
    margin-inline-start: 8px;
    color: var(--soft);
  }
  .group,
  .tag {
    font-size: 12px;
    color: var(--soft);
  }
  .number {
    text-align: end;
  }
  .axis {
    display: block;
    overflow: hidden;
  }
  .cells .axis {
    text-overflow: clip;
  }
  .track,
  .ticks {
    display: block;
    overflow: hidden;
  }
  .ticks text {
    font-size: 11px;
    fill: var(--soft);
  }
  .foot {
    display: flex;
    flex: none;
    flex-wrap: wrap;
    gap: 2px 20px;
    align-items: center;
    justify-content: space-between;
    min-height: 27px;
    padding: 4px 12px;
    font-size: 12px;
    color: var(--soft);
    border-top: 1px solid var(--line);
  }
  .legend {
    display: flex;
    flex-wrap: wrap;
    gap: 2px 14px;
  }
  .legend li {
    display: flex;
    gap: 5px;
    align-items: center;
    white-space: nowrap;
  }
  .empty {
    margin: auto;
    padding: 24px 16px;
    color: var(--soft);
    line-height: 1.6;
    text-align: center;
    text-wrap: balance;
  }
  .grid .empty {
    position: absolute;
    inset: 26px 0 0;
    display: grid;
    place-content: center;
  }

  /* The waterfall */
  .quarter {
    stroke: var(--line);
    stroke-dasharray: 1 3;
  }
  .piece.good {
    fill: var(--good);
  }
  .piece.bad {
    fill: var(--bad);
  }
  .piece.flying {
    fill: var(--fly);
  }
  .piece.moment {
    fill: var(--panel);
    stroke: var(--text);
    stroke-width: 1.5;
  }
  .piece text {
    font-size: 10.5px;
    font-weight: 600;
    fill: var(--on);
  }
  .piece.flying text {
    fill: var(--on-fly);
  }
  .cut {
    fill: none;
    stroke: var(--on);
    stroke-width: 1.5;
  }
  .hit {
    fill: transparent;
  }
  .line line {
    stroke: var(--mute);
    stroke-width: 2;
  }
  .line.asked line {
    stroke: var(--wait);
    stroke-width: 3;
  }
  .line.parked line {
    stroke: var(--park);
    stroke-width: 3;
    stroke-dasharray: 6 3;
  }
  .line.offline line {
    stroke: var(--mute);
    stroke-width: 3;
    stroke-dasharray: 2 3;
  }
  .line.kept line {
    stroke: var(--park);
    stroke-width: 1.5;
  }

  /* Details */
  .details {
    min-width: 0;
    overflow: auto;
    overscroll-behavior: contain;
    border-inline-start: 1px solid var(--line);
    scrollbar-width: thin;
  }
  .details header {
    display: flex;
    gap: 8px;
    align-items: start;
    justify-content: space-between;
    padding: 8px 6px 0 14px;
  }
  .details h3 {
    padding-top: 4px;
    overflow-wrap: anywhere;
    font-family: var(--mono);
    font-size: 12px;
  }
  .facts {
    display: flex;
    flex-wrap: wrap;
    gap: 2px 12px;
    align-items: center;
    color: var(--soft);
    font-size: 12px;
  }
  .details .facts {
    padding: 4px 14px 8px;
  }
  .why {
    padding: 0 14px 12px;
  }
  .why li {
    display: grid;
    grid-template-columns: 64px minmax(0, 1fr);
    gap: 12px;
    padding: 6px 0;
    border-top: 1px solid color-mix(in srgb, var(--line) 70%, transparent);
  }
  .why .at {
    color: var(--soft);
    text-align: end;
    white-space: nowrap;
  }

  /* Origins */
  .cards {
    display: grid;
    grid-template-columns: repeat(auto-fill, minmax(min(100%, 300px), 1fr));
    gap: 12px;
    padding: 12px;
  }
  .card {
    display: flex;
    flex-direction: column;
    gap: 8px;
    padding: 12px 14px;
    border: 1px solid var(--line);
    border-radius: 8px;
  }
  .card header {
    display: flex;
    gap: 8px;
    align-items: baseline;
    justify-content: space-between;
  }
  .card h3 {
    min-width: 0;
    overflow-wrap: anywhere;
    font-family: var(--mono);
    font-size: 12.5px;
  }
  .card dl > div {
    display: grid;
    grid-template-columns: 64px minmax(0, 1fr);
    gap: 12px;
    align-items: baseline;
    padding: 3px 0;
  }
  .card dt {
    color: var(--soft);
  }
  .hold {
    display: block;
    overflow-wrap: anywhere;
  }
  .card footer {
    display: flex;
    gap: 8px;
    margin-top: auto;
    padding-top: 4px;
  }
  .meter {
    margin-inline-end: 6px;
    vertical-align: middle;
  }
  .meter .all {
    fill: var(--quiet-soft);
  }
  .meter .left {
    fill: var(--good);
  }
  .meter.low .left {
    fill: var(--bad);
  }

  /* Outbox */
  .items li {
    display: grid;
    grid-template-columns: 76px minmax(0, 1fr) auto;
    gap: 4px 14px;
    align-items: start;
    padding: 8px 12px;
    border-bottom: 1px solid var(--line);
  }
  .items .badge {
    justify-self: start;
    margin-top: 1px;
  }
  .name {
    overflow-wrap: anywhere;
  }
  .do {
    display: flex;
    gap: 6px;
  }

  /* Counters */
  .counters {
    display: grid;
    grid-template-columns: minmax(0, 3fr) minmax(260px, 2fr);
    gap: 16px 32px;
    padding: 16px 14px;
  }
  .figures {
    display: grid;
    grid-template-columns: repeat(auto-fill, minmax(112px, 1fr));
    gap: 16px;
    align-content: start;
  }
  .figures > div {
    display: flex;
    flex-direction: column;
  }
  .figures dt {
    color: var(--soft);
  }
  .figures dd {
    font-size: 24px;
    font-weight: 600;
    line-height: 1.25;
    letter-spacing: -0.02em;
  }
  .figures .good dd {
    color: var(--good);
  }
  .figures .bad dd {
    color: var(--bad);
  }
  .counters section {
    display: grid;
    gap: 8px;
    align-content: start;
  }
  .reasons li {
    display: grid;
    grid-template-columns: minmax(0, 1fr) 96px 4ch;
    gap: 12px;
    align-items: center;
    padding: 2px 0;
  }
  .reasons rect {
    fill: var(--bad);
  }
  .reasons strong {
    text-align: end;
  }

  /* Where the system has the colours, backgrounds are gone and what was transparent is not. */
  @media (forced-colors: active) {
    [role="tab"] {
      border-bottom-color: Canvas;
    }
    [role="tab"][aria-selected="true"] {
      border-bottom-color: Highlight;
    }
    .body .cells.is-selected {
      outline: 2px solid Highlight;
      outline-offset: -2px;
    }
    .mark,
    .resizer::after {
      forced-color-adjust: none;
    }
  }

  /* Snug: the tabs have a line of their own, however much they count */
  .is-snug .bar {
    flex-wrap: wrap;
    padding: 0 4px 0 12px;
  }
  .is-snug .bar h2 {
    flex: 1;
    height: 40px;
  }
  .is-snug [role="tablist"] {
    flex: 1 0 100%;
    order: 1;
    margin-inline-start: -7px;
  }

  /* Narrow */
  .is-narrow [role="tab"] {
    gap: 5px;
    height: 34px;
    padding: 0 7px;
  }
  .is-narrow [role="tab"] .badge {
    padding: 0 5px;
  }
  .is-narrow .actions button span {
    display: none;
  }
  .is-narrow .filters {
    flex-wrap: wrap;
  }
  .is-narrow .search {
    flex: 1 1 calc(100% - 110px);
    order: -2;
  }
  .is-narrow form.filters .count {
    flex: 0 1 auto;
    order: -1;
  }
  .is-narrow form.filters select {
    flex: 1 1 0;
    min-width: 29%;
  }
  .is-narrow .split.is-split {
    grid-template: minmax(0, 1fr) minmax(0, 1fr) / minmax(0, 1fr);
  }
  .is-narrow .cells {
    grid-template: 22px 22px / auto auto minmax(0, 1fr) auto;
    gap: 0 10px;
    align-content: center;
    height: 50px;
  }
  .is-narrow .head .cells {
    grid-template: 22px / minmax(0, 1fr);
    height: 26px;
  }
  .is-narrow .head .cells > :not(.axis),
  .is-narrow .group,
  .is-narrow .body .number:not(.time),
  .is-narrow .subject small {
    display: none;
  }
  .is-narrow .axis {
    grid-column: 1 / -1;
  }
  .is-narrow .is-notice .method {
    display: none;
  }
  .is-narrow .is-notice .subject {
    grid-column: span 2;
  }
  .is-narrow .details {
    border-inline-start: 0;
    border-top: 1px solid var(--line);
  }
  summary {
    cursor: pointer;
  }
  .foot details[open] {
    flex-basis: 100%;
  }
  .is-narrow .legend {
    padding: 4px 0;
  }
  .is-narrow .items li {
    grid-template-columns: minmax(0, 1fr) auto;
  }
  .is-narrow .items .what {
    grid-column: 1 / -1;
    grid-row: 2;
  }
  .is-narrow .counters {
    grid-template-columns: minmax(0, 1fr);
  }
  .is-narrow .figures {
    grid-template-columns: repeat(auto-fill, minmax(88px, 1fr));
    gap: 12px;
  }
`;
