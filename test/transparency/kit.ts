/** What the page got, as plain data. */
export type Got = Readonly<Record<string, unknown>>;

interface XhrOptions {
  readonly method?: string;
  readonly sync?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
  readonly responseType?: XMLHttpRequestResponseType;
  readonly withCredentials?: boolean;
  readonly body?: XMLHttpRequestBodyInit;
}

/** What a page makes its requests with. */
export interface Kit {
  fetch(url: string, init?: RequestInit): Promise<Got>;
  /** The same of an answer that something else has asked for. */
  got(work: () => Promise<Response>): Promise<Got>;
  xhr(url: string, options?: XhrOptions): Promise<Got>;
  /** Puts an element into the page and waits until it is loaded, or is not. */
  load(tag: string, attributes: Readonly<Record<string, string>>, event?: string): Promise<Got>;
  /** An empty frame with a name of its own, for what navigates. */
  frame(): { readonly name: string; readonly loaded: Promise<Got> };
  /** Sends a form into a frame. */
  submit(
    action: string,
    attributes: Readonly<Record<string, string>>,
    fields: readonly [string, string | File][],
  ): Promise<Got>;
  /** As an `integrity` names it. */
  digest(text: string): Promise<string>;
  /** Settles with what it does, or with the name of its error. */
  outcome(work: () => Promise<unknown>): Promise<unknown>;
  later(ms: number): Promise<void>;
}

declare global {
  interface Window {
    readonly kit: Kit;
    ran?: string[];
  }
}

/** Runs in the page, from its source: it may use nothing from outside. */
export function installKit(): void {
  const nameOf = (error: unknown) => ({ error: error instanceof Error ? error.name : String(error) });

  const kit: Kit = {
    fetch: (url, init) => kit.got(() => fetch(url, init)),
    async got(work) {
      try {
        const response = await work();
        const { status, statusText, type, url, redirected } = response;
        const seen = { status, statusText, type, url, redirected, headers: Object.fromEntries(response.headers) };
        try {
          const bytes = new Uint8Array(await response.arrayBuffer());
          let hash = 0;
          for (const byte of bytes) hash = (hash * 31 + byte) | 0;
          const body = bytes.length < 200 ? new TextDecoder().decode(bytes) : `${bytes.length} bytes, ${hash}`;
          return { ...seen, body };
        } catch (error) {
          return { ...seen, body: nameOf(error) };
        }
      } catch (error) {
        return nameOf(error);
      }
    },
    xhr(url, { method = 'GET', sync = false, headers = {}, responseType = '', withCredentials = false, body } = {}) {
      return new Promise((resolve) => {
        const request = new XMLHttpRequest();
        const heard: string[] = [];
        const end = () => {
          const { status, statusText, responseURL, response } = request;
          const shown =
            response instanceof ArrayBuffer
              ? `${response.byteLength} bytes`
              : response instanceof Blob
                ? `${response.type}, ${response.size} bytes`
                : response instanceof Document
                  ? new XMLSerializer().serializeToString(response)
                  : response;
          resolve({
            status,
            statusText,
            url: responseURL,
            body: shown,
            headers: request.getAllResponseHeaders(),
            heard,
          });
        };
        request.open(method, url, !sync);
        for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
        request.withCredentials = withCredentials;
        if (!sync) {
          request.responseType = responseType;
          for (const type of ['load', 'error']) request.addEventListener(type, () => heard.push(type));
          // Who listens to an upload has a preflight.
          if (body !== undefined) {
            for (const type of ['load', 'error'])
              request.upload.addEventListener(type, () => heard.push(`upload ${type}`));
          }
          request.onloadend = end;
        }
        try {
          request.send(body);
        } catch (error) {
          heard.push(error instanceof Error ? error.name : String(error));
        }
        if (sync) end();
      });
    },
    load(tag, attributes, event = 'load') {
      return new Promise((resolve) => {
        const element = document.createElement(tag);
        const tell = ({ type }: Event) => {
          const size =
            element instanceof HTMLImageElement ? { width: element.naturalWidth, height: element.naturalHeight } : {};
          const length = element instanceof HTMLMediaElement ? { seconds: element.duration } : {};
          resolve({ event: type, ...size, ...length });
        };
        element.addEventListener(event, tell);
        element.addEventListener('error', tell);
        for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
        document.body.append(element);
        // Of what fails in it, not every browser tells with an event.
        setTimeout(tell, 10_000, new Event('silence'));
      });
    },
    frame() {
      const frame = document.createElement('iframe');
      const name = `frame-${document.querySelectorAll('iframe').length}`;
      frame.name = name;
      document.body.append(frame);
      const loaded = new Promise<Got>((resolve) => {
        frame.addEventListener('load', () => {
          try {
            const { title, referrer, cookie, URL, contentType } = frame.contentDocument as Document;
            // The empty document that was there before.
            if (URL !== 'about:blank') resolve({ title, referrer, cookie, url: URL, contentType });
          } catch (error) {
            resolve(nameOf(error));
          }
          if (frame.contentDocument === null) resolve({ closed: true });
        });
      });
      return { name, loaded };
    },
    submit(action, attributes, fields) {
      const { name, loaded } = kit.frame();
      const form = document.createElement('form');
      form.action = action;
      form.target = name;
      for (const [attribute, value] of Object.entries(attributes)) form.setAttribute(attribute, value);
      for (const [field, value] of fields) {
        const input = document.createElement('input');
        input.name = field;
        if (value instanceof File) {
          const chosen = new DataTransfer();
          chosen.items.add(value);
          input.type = 'file';
          input.files = chosen.files;
        } else input.value = value;
        form.append(input);
      }
      document.body.append(form);
      form.submit();
      return loaded;
    },
    async digest(text) {
      const bytes = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)));
      return `sha256-${btoa(String.fromCharCode(...bytes))}`;
    },
    async outcome(work) {
      try {
        return await work();
      } catch (error) {
        return nameOf(error);
      }
    },
    later: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  };
  Object.assign(window, { kit });
}
