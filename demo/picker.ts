import { byId, make, setText } from './dom.ts';
import { FAULTS, type Fault } from './faults.ts';

/** Fills the form with one radio button per fault and returns the way to ask which is chosen. */
export function createPicker(): () => Fault {
  const set = byId('faults', HTMLElement);
  const expectation = byId('expect', HTMLElement);
  let chosen = FAULTS[0];

  for (const fault of FAULTS) {
    const radio = make('input', '');
    radio.type = 'radio';
    radio.name = 'fault';
    radio.value = fault.id;
    radio.checked = fault === chosen;
    radio.addEventListener('change', () => {
      chosen = fault;
      setText(expectation, fault.expect);
    });
    set.append(make('label', 'fault', radio, make('span', '', fault.name)));
  }
  setText(expectation, chosen.expect);
  return () => chosen;
}
