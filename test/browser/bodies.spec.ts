import { expect, header, test } from '../support/browser.ts';

for (const method of ['POST', 'PATCH']) {
  test(`${method} without a key is not even intercepted`, async ({ site, open }) => {
    const page = await open();
    const wire = site.plan([{ status: 503, body: 'busy' }]);
    const [response] = await Promise.all([
      page.waitForResponse(site.url + wire.path),
      page.evaluate(({ path, method }) => window.sf.get(path, { method, body: 'order' }), { path: wire.path, method }),
    ]);
    expect(response.status()).toBe(503);
    expect(response.fromServiceWorker()).toBe(false);
    expect(wire.hits()).toHaveLength(1);
  });
}

for (const name of ['Idempotency-Key', 'X-Idempotency-Key']) {
  test(`POST with an empty ${name} has none, and is sent once`, async ({ site, open }) => {
    const page = await open();
    const wire = site.plan([{ status: 503, body: 'busy' }]);
    const init = { method: 'POST', body: 'order', headers: { [name]: ' ' } };
    const seen = await page.evaluate(({ path, init }) => window.sf.get(path, init), { path: wire.path, init });
    expect(seen).toMatchObject({ status: 503, body: 'busy' });
    expect(wire.hits()).toHaveLength(1);
  });
}

test('B047 a POST without a key whose answer is lost is sent once', async ({ site, open }) => {
  const page = await open();
  const wire = site.plan([{ reset: 'headers' }]);
  const seen = await page.evaluate((path) => window.sf.get(path, { method: 'POST', body: 'order' }), wire.path);
  expect(seen).toHaveProperty('error');
  expect(wire.hits()).toHaveLength(1);
});

for (const kind of ['text', 'json', 'multibyte', 'blob', 'form', 'search', 'empty'] as const) {
  for (const name of ['Idempotency-Key', 'X-Idempotency-Key']) {
    test(`POST with ${name}: a ${kind} body is the same on every hit`, async ({ site, open }) => {
      const page = await open();
      const wire = site.plan([{ status: 503 }, { status: 502 }, { status: 200, body: 'done' }]);
      const sent = await page.evaluate(
        async ({ path, kind, name }) => {
          const bytes = Uint8Array.from({ length: 256_000 }, (_, index) => index % 256);
          const form = new FormData();
          form.append('text', 'é and 漢字');
          form.append('file', new File([bytes], 'ünï.bin', { type: 'application/octet-stream' }));
          const body = {
            text: 'plain text',
            json: JSON.stringify({ order: 1, items: ['a', 'b'] }),
            multibyte: 'grüße 漢字 🚀'.repeat(100),
            blob: new Blob([bytes], { type: 'application/octet-stream' }),
            form,
            search: new URLSearchParams({ a: '1 & 2' }),
            empty: '',
          }[kind];
          const request = new Request(path, { method: 'POST', body, headers: { [name]: 'k-1' } });
          // WebKit's pages cannot read a form with a file back.
          const length = kind === 'form' ? undefined : (await request.clone().arrayBuffer()).byteLength;
          const response = await fetch(request);
          return { status: response.status, text: await response.text(), length };
        },
        { path: wire.path, kind, name },
      );
      expect(sent).toMatchObject({ status: 200, text: 'done' });
      const hits = wire.hits();
      expect(hits).toHaveLength(3);
      for (const hit of hits) {
        expect(hit.body.length).toBe(sent.length ?? hits[0]?.body.length);
        expect(hit.body.equals(hits[0]?.body ?? Buffer.alloc(0))).toBe(true);
        expect(header(hit, 'content-length')).toBe(String(hit.body.length));
        expect(header(hit, 'content-type')).toBe(header(hits[0], 'content-type'));
        expect(header(hit, name)).toBe('k-1');
      }
      if (kind === 'form') {
        const headers = { 'content-type': header(hits[2], 'content-type') ?? '' };
        const form = await new Response(new Uint8Array(hits[2]?.body ?? []), { headers }).formData();
        expect([...form.keys()]).toEqual(['text', 'file']);
        expect(form.get('text')).toBe('é and 漢字');
        const file = form.get('file') as File;
        expect(file.name).toBe('ünï.bin');
        const bytes = Uint8Array.from({ length: 256_000 }, (_, index) => index % 256);
        expect(Buffer.from(await file.arrayBuffer()).equals(bytes)).toBe(true);
      }
    });
  }
}

test('a body that a reset cut off is sent again from its beginning', async ({ site, open }) => {
  const page = await open();
  const wire = site.plan([{ reset: 'headers' }, { reset: 'headers' }, { status: 204 }]);
  const body = 'é'.repeat(200_000);
  const seen = await page.evaluate(({ path, body }) => window.sf.get(path, { method: 'PUT', body }), {
    path: wire.path,
    body,
  });
  expect(seen).toMatchObject({ status: 204 });
  expect(wire.hits()).toHaveLength(3);
  expect(wire.hits()[2]?.body.toString()).toBe(body);
});

test('B025 PUT with a body is retried as it is', async ({ site, open }) => {
  const page = await open();
  const wire = site.plan([{ status: 503 }, { status: 503 }, { status: 503 }, { status: 204 }]);
  const seen = await page.evaluate((path) => window.sf.get(path, { method: 'PUT', body: 'x'.repeat(300) }), wire.path);
  expect(seen).toMatchObject({ status: 204 });
  expect(wire.hits().map(({ body }) => body.toString())).toEqual(Array(4).fill('x'.repeat(300)));
});

test('a body of 5 MiB goes through once, whole, and its answer is the page’s', async ({ site, open }) => {
  const page = await open();
  const wire = site.plan([{ status: 503, body: 'busy' }]);
  const seen = await page.evaluate(
    (path) => window.sf.get(path, { method: 'PUT', body: new Uint8Array(5 * 1_048_576).fill(7) }),
    wire.path,
  );
  expect(seen).toMatchObject({ status: 503, body: 'busy' });
  expect(wire.hits()).toHaveLength(1);
  const body = wire.hits()[0]?.body ?? Buffer.alloc(0);
  expect(body.length).toBe(5 * 1_048_576);
  expect(body.every((byte) => byte === 7)).toBe(true);
  await expect
    .poll(() => page.evaluate(() => window.sf.told))
    .toMatchObject([{ type: 'gave-up', reason: 'not-replayable', attempts: 1, lastStatus: 503 }]);
});

test('seven discarded answers with large bodies do not stall the connections of their origin', async ({
  site,
  open,
}) => {
  const page = await open('quick');
  const wires = Array.from({ length: 7 }, () => site.plan([{ status: 503, bytes: 8_000_000 }, { body: 'fine' }]));
  const seen = await page.evaluate(
    (paths) => Promise.all(paths.map((path) => window.sf.get(path))),
    wires.map(({ path }) => path),
  );
  for (const answer of seen) expect(answer).toMatchObject({ status: 200, body: 'fine' });
});

test('answers whose bodies never end do not stall them either', async ({ site, open }) => {
  const page = await open('quick');
  const wires = Array.from({ length: 7 }, () => site.plan([{ status: 503, endless: true }, { body: 'fine' }]));
  const seen = await page.evaluate(
    (paths) => Promise.all(paths.map((path) => window.sf.get(path))),
    wires.map(({ path }) => path),
  );
  for (const answer of seen) expect(answer).toMatchObject({ status: 200, body: 'fine' });
  // The server sees each of them closed.
  for (const wire of wires) await expect.poll(() => wire.hits()[0]?.closedAt).toBeDefined();
});
