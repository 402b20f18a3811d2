import { createFinder } from '../cases/named.ts';
import { toTable } from '../docs/markdown.ts';
import { CLAIMS } from './claims.ts';

const linkTo = (path: string): string => `[${path.replace(/\.ts$/, '')}](../test/${path})`;

/** What is generated of `docs/security.md`: each claim with the tests that bear its id. */
export const securityBlocks: Readonly<Record<string, () => string>> = {
  'security-claims': () => {
    const filesOf = createFinder();
    return toTable(
      ['', 'what holds', 'shown by'],
      CLAIMS.map(({ id, says }) => [id, says, filesOf(id).map(linkTo).join(', ')]),
    );
  },
};
