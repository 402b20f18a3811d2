import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { main } from '../../src/cli/main.ts';

/** A site in a temporary folder, whose `public/` the command is run on. */
export interface TestSite {
  readonly root: string;
  /** Runs the command as if it were called there. */
  run(...args: string[]): { readonly code: number; readonly printed: string; readonly complaints: string };
  read(name: string): string;
  write(name: string, text: string): void;
  files(): readonly string[];
}

export function createSite(): TestSite {
  const root = mkdtempSync(join(tmpdir(), 'steadfetch-cli-'));
  const builds = mkdtempSync(join(tmpdir(), 'steadfetch-builds-'));
  writeFileSync(join(builds, 'dropin.js'), 'var steadfetch = {};\n//# sourceMappingURL=dropin.js.map');
  writeFileSync(join(builds, 'page.js'), 'export {};\n\n//# sourceMappingURL=page.js.map');
  mkdirSync(join(root, 'public'));
  return {
    root,
    run(...args) {
      const printed: string[] = [];
      const complaints: string[] = [];
      const code = main(args, {
        cwd: root,
        builds,
        print: (line) => printed.push(line),
        complain: (line) => complaints.push(line),
      });
      return { code, printed: printed.join('\n'), complaints: complaints.join('\n') };
    },
    read: (name) => readFileSync(join(root, 'public', name), 'utf8'),
    write: (name, text) => writeFileSync(join(root, 'public', name), text),
    files: () => readdirSync(join(root, 'public')).sort(),
  };
}
