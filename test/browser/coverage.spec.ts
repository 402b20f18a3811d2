import { expect, expectShown, expectStatus, test } from '../support/browser.ts';

const BUSY = { status: 503, body: 'busy' };
const of = (type: string, body: string) => ({ headers: { 'content-type': type }, body });

// What a page can ask for, how it asks, and what a server answers.
const KINDS = {
  fetch: of('text/plain', 'fine'),
  XHR: of('text/plain', 'fine'),
  image: of('image/svg+xml', '<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>'),
  script: of('text/javascript', 'window.scriptRan = true'),
  'module script': of('text/javascript', 'window.scriptRan = true'),
  style: of('text/css', 'body { color: red }'),
  font: of('font/woff2', 'none that can be read'),
  frame: of('text/html', '<p>fine</p>'),
  'a worker’s script': of('text/javascript', 'postMessage("fine")'),
  'a worker’s fetch': of('text/plain', 'fine'),
  'a shared worker’s fetch': of('text/plain', 'fine'),
} as const;

for (const [kind, answer] of Object.entries(KINDS)) {
  test(`row 55: ${kind} is retried, without a word of the page`, async ({ site, open, engine }) => {
    const page = await open('quick');
    const wire = site.plan([BUSY, answer]);
    const came = await page.evaluate(
      async ({ kind, url }) => {
        const element = (tag: string, attributes: Record<string, string>) =>
          new Promise<boolean>((resolve) => {
            const node = document.createElement(tag);
            node.onload = () => resolve(true);
            node.onerror = () => resolve(false);
            for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
            document.body.append(node);
          });
        const scriptOf = (source: string) => URL.createObjectURL(new Blob([source], { type: 'text/javascript' }));
        const heard = (port: Worker | MessagePort) =>
          new Promise<boolean>((resolve) => {
            port.onmessage = ({ data }) => resolve(data === 'fine');
          });
        switch (kind) {
          case 'fetch':
            return (await fetch(url)).ok;
          case 'XHR':
            return new Promise<boolean>((resolve) => {
              const request = new XMLHttpRequest();
              request.onloadend = () => resolve(request.status === 200);
              request.open('GET', url);
              request.send();
            });
          case 'image':
            return element('img', { src: url });
          case 'script':
            return element('script', { src: url });
          case 'module script':
            return element('script', { src: url, type: 'module' });
          case 'style':
            return element('link', { href: url, rel: 'stylesheet' });
          case 'font':
            // There is none in the answer: that it was asked for again is what counts.
            return new FontFace('it', `url(${url})`).load().then(
              () => false,
              () => true,
            );
          case 'frame':
            return element('iframe', { src: url });
          case 'a worker’s script':
            return heard(new Worker(url));
          case 'a worker’s fetch':
            return heard(new Worker(scriptOf(`fetch('${url}').then((r) => r.text()).then(postMessage)`)));
          default: {
            const source = `onconnect = ({ ports: [port] }) =>
              fetch('${url}').then((r) => r.text()).then((text) => port.postMessage(text))`;
            return heard(new SharedWorker(scriptOf(source)).port);
          }
        }
      },
      { kind, url: site.url + wire.path },
    );
    // Firefox shows no worker what a shared worker asks for whose script is a blob.
    const unseen = engine === 'firefox' && kind === 'a shared worker’s fetch';
    expect([came, wire.hits().length]).toEqual(unseen ? [false, 1] : [true, 2]);
  });
}

test('row 55: a navigation is retried, without a word of the page', async ({ site, open }) => {
  const page = await open('quick');
  const wire = site.plan([BUSY, of('text/html', '<p id="shown">fine</p>')]);
  const response = await page.goto(site.url + wire.path);
  expectStatus(page, response, 200);
  expect(wire.hits().length).toBe(2);
  await expectShown(page, '#shown');
});
