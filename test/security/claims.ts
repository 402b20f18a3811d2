/** What `docs/security.md` promises, each by an id that is in the name of the tests which show it. */
export interface Claim {
  readonly id: string;
  readonly says: string;
}

export const CLAIMS: readonly Claim[] = [
  // A script of the page, and what it can say.
  { id: 'S01', says: 'Whatever messages a page sends, nothing is thrown, and requests get what the server says' },
  { id: 'S02', says: 'Whatever a worker says, a page throws nothing, and hears only events as they are described' },
  { id: 'S03', says: 'What other workers and tabs say on the channel is checked, and not understood is ignored' },
  { id: 'S04', says: 'An answer that a script must not read (`no-cors`) is told to nobody, by no event and no entry' },
  { id: 'S05', says: 'Nothing is sent to an origin that the policy of the worker’s script forbids' },
  { id: 'S06', says: 'Names such as `__proto__`, wherever they come from, change no object but their own' },
  // A URL from somebody else.
  { id: 'S07', says: 'A URL can ask for less, never for more: no attempts, time or repeating beyond its route' },
  { id: 'S08', says: 'A URL’s wish counts for no image, document or module' },
  {
    id: 'S09',
    says: 'What a page signs takes nothing over from the URL but `hedge: false`, `retryNonIdempotent: false`',
  },
  // A server.
  { id: 'S10', says: 'Whatever stands in an answer, a request has no more attempts and waits than its policy allows' },
  { id: 'S11', says: 'No hold is longer than an hour; no request waits in line longer than `retryAfter.maxMs`' },
  { id: 'S12', says: 'Of an answer that is thrown away at most 64 KiB are read, for at most 100 ms' },
  { id: 'S13', says: 'What one origin answers changes nothing for another' },
  // Filling.
  { id: 'S14', says: 'However many origins are asked, at most 200 records are stored' },
  { id: 'S15', says: 'Of a hold at most 20 paths are remembered' },
  { id: 'S16', says: 'At most 50 events are kept for a page that loads, and at most 20 a second are told' },
  { id: 'S17', says: 'A full outbox keeps nothing more, and says so; results are at most 100' },
  { id: 'S18', says: 'Bodies that may be sent again are at most 1 MiB each and 8 MiB together' },
  { id: 'S19', says: 'Whatever the databases hold, a request is answered in time, and nothing of it is trusted' },
  // Secrets.
  { id: 'S20', says: 'No event, status, entry shown, saved file or warning has a query, header, body or cookie' },
  { id: 'S21', says: 'The database of the records has none either, and no database a cookie' },
  { id: 'S22', says: 'A kept request is stored whole only until it is delivered, cancelled or cleared' },
  { id: 'S23', says: 'Another owner’s entries are neither sent nor shown' },
  { id: 'S24', says: '`retire()` leaves no registration, database, cache or channel' },
  // Another site.
  { id: 'S25', says: 'A frame of another origin hears nothing, and cannot pause, ask or change anything' },
  { id: 'S26', says: 'A mirror gets no cookie, no `Authorization` and no key, unless it is trusted' },
  { id: 'S27', says: '`Retry-Attempt` and a key that is added go to the own origin only' },
  { id: 'S28', says: 'No request is made that the page has not asked for, but the worker’s own script' },
  // What is shown, and what is shipped.
  { id: 'S29', says: 'The panel and the status show hostile texts as texts' },
  { id: 'S30', says: 'Page, panel and status work under a strict policy with trusted types' },
  { id: 'S31', says: 'Three packages are installed with it, and nothing runs at its installation' },
  { id: 'S32', says: 'What is built evaluates no text as code, and names no host' },
  { id: 'S33', says: 'The command writes nothing but its files, and never over somebody else’s' },
];
