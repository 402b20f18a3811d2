/** What is behind a name: what its ending says, and the same in every run. */
export function contentOf(name: string, kitScript: string): { readonly mime: string; readonly bytes: Buffer } {
  const ending = /\.(\w+)$/.exec(name)?.[1] ?? '';
  const content = CONTENTS[ending];
  if (content === undefined) throw new Error(`nothing is known of ${name}`);
  const { mime, make } = content;
  return { mime, bytes: Buffer.from(make(name, kitScript)) };
}

interface Content {
  readonly mime: string;
  readonly make: (name: string, kitScript: string) => string | Buffer;
}

const text = (name: string) => `content of ${name}`;

/** Half a second of silence. */
function silence(): Buffer {
  const [rate, samples] = [8_000, 4_000];
  const head = Buffer.alloc(44);
  head.write('RIFF', 0);
  head.writeUInt32LE(36 + samples, 4);
  head.write('WAVEfmt ', 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(rate, 24);
  head.writeUInt32LE(rate, 28);
  head.writeUInt16LE(1, 32);
  head.writeUInt16LE(8, 34);
  head.write('data', 36);
  head.writeUInt32LE(samples, 40);
  return Buffer.concat([head, Buffer.alloc(samples, 128)]);
}

/** Scripts name themselves, so that a page knows that they ran; those that ask for something have a name of their own. */
const SCRIPTS: Readonly<Record<string, string>> = {
  'imports.js': "import { name } from './imported.js'; globalThis.ran = [...(globalThis.ran ?? []), name];",
  'imported.js': "export const name = 'imported';",
  'worker.js': `importScripts('helper.js');
    onmessage = async ({ data }) => {
      const response = await fetch(data, { headers: { 'X-A': '1' } });
      postMessage({ helped: self.helped, status: response.status, url: response.url, body: await response.text() });
    };`,
  'helper.js': 'self.helped = true;',
  'module-worker.js': `import { name } from './imported.js';
    const response = await fetch('from-module.txt');
    postMessage({ name, status: response.status, url: response.url, body: await response.text() });`,
  'shared.js': `onconnect = async ({ ports: [port] }) => {
      const response = await fetch('from-shared.txt');
      port.postMessage({ status: response.status, url: response.url, body: await response.text() });
    };`,
};

const CONTENTS: Readonly<Record<string, Content>> = {
  txt: { mime: 'text/plain', make: text },
  json: { mime: 'application/json', make: (name) => JSON.stringify({ name }) },
  xml: { mime: 'application/xml', make: (name) => `<name>${name}</name>` },
  svg: {
    mime: 'image/svg+xml',
    make: () =>
      '<svg xmlns="http://www.w3.org/2000/svg" width="3" height="2"><symbol id="s"><rect width="3" height="2"/></symbol></svg>',
  },
  js: {
    mime: 'text/javascript',
    make: (name) => SCRIPTS[name] ?? `globalThis.ran = [...(globalThis.ran ?? []), ${JSON.stringify(name)}];`,
  },
  css: {
    mime: 'text/css',
    make: (name) =>
      name.endsWith('imports.css')
        ? '@import url(imported.css); .with-image { background-image: url(behind.svg) }'
        : '.styled { color: rgb(1, 2, 3) }',
  },
  html: {
    mime: 'text/html',
    make: (name, kitScript) =>
      `<!doctype html><meta charset="utf-8"><title>${name}</title><link rel="icon" href="data:,"><script>${kitScript}</script><body>`,
  },
  // Asked for by a script: what a parser asks for is reported with its line or without, as it happens.
  csp: {
    mime: 'text/html',
    make: () => '<!doctype html><link rel="icon" href="data:,"><script>new Image().src = "forbidden.svg"</script>',
  },
  refresh: {
    mime: 'text/html',
    make: () => '<!doctype html><link rel="icon" href="data:,"><meta http-equiv="refresh" content="0; url=end.html">',
  },
  sse: { mime: 'text/event-stream', make: (name) => `retry: 60000\ndata: ${name}\n\n` },
  wav: { mime: 'audio/wav', make: silence },
  vtt: { mime: 'text/vtt', make: () => 'WEBVTT\n\n00:00.000 --> 00:01.000\nwords\n' },
  // No font at all: it is asked for, and then refused.
  woff2: { mime: 'font/woff2', make: text },
  wasm: { mime: 'application/wasm', make: () => Buffer.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]) },
  bin: {
    mime: 'application/octet-stream',
    make: () => Buffer.from(Array.from({ length: 200_000 }, (_, at) => at % 251)),
  },
  latin: { mime: 'text/plain; charset=iso-8859-1', make: () => Buffer.from([0x67, 0x72, 0xfc, 0xdf, 0x65]) },
  empty: { mime: 'text/plain', make: () => '' },
};
