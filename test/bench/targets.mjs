/** Nanoseconds that each handler adds, from 5 to 20 of them. */
export function slope(figures, prefix, contender) {
  const few = figures.scenarios[`${prefix}-5`]?.[contender];
  const many = figures.scenarios[`${prefix}-20`]?.[contender];
  return few === undefined || many === undefined ? undefined : (many.ns - few.ns) / 15;
}

/**
 * The targets, with what was measured: printed, never asserted, since a figure is the machine's as much as ours.
 * Making the payload is the caller's: what the floor needs for it is taken off the fixed costs.
 */
export function targetsOf(figures) {
  const rows = [];
  const add = (what, value, limit, unit, atLeast = false, note = '') => {
    if (value === undefined || !Number.isFinite(value)) return;
    rows.push({
      what,
      value,
      limit,
      unit,
      atLeast,
      note,
      met: atLeast ? value >= limit : value <= limit,
    });
  };
  const { scenarios, alone, families, registration, frames } = figures;
  const slopes = [
    ['observers', 'per observer (slope 5 to 20)', 1.5],
    ['async-observers', 'per async observer (slope 5 to 20)', 1.6],
    ['sync-mutators', 'per mutator, sync-sequential (slope 5 to 20)', 3],
    ['mutators', 'per mutator, sequential (slope 5 to 20)', 3],
    ['async-mutators', 'per async mutator, sequential (slope 5 to 20)', 1.6],
  ];
  for (const [prefix, what, limit] of slopes) {
    const ours = slope(figures, prefix, 'sluice');
    const floor = slope(figures, prefix, 'floor');
    if (ours !== undefined && floor !== undefined)
      add(
        what,
        ours / floor,
        limit,
        'x floor',
        false,
        `${ours.toFixed(1)} ns against ${floor.toFixed(1)}`,
      );
  }

  const empty = alone['observers-0'];
  if (empty?.sluice !== undefined) {
    const payloadNs = empty.floor.ns;
    const awaitedNs = scenarios['observers-0']?.sluice?.ns;
    const note =
      awaitedNs === undefined
        ? ''
        : `${(awaitedNs - payloadNs).toFixed(0)} ns with the caller's await`;
    add('fixed cost, no handler', empty.sluice.ns - payloadNs, 100, 'ns', false, note);
    const five = alone['observers-5'].sluice.ns;
    const each = (alone['observers-20'].sluice.ns - five) / 15;
    add('fixed cost with handlers, 10 flat fields', five - 5 * each - payloadNs, 400, 'ns');
    const nested = alone['observers-5-nested'].sluice.ns - 5 * each - payloadNs;
    add('the same, 2 of the fields objects', nested, 400, 'ns');
  }

  const name = 'openclaw-style';
  for (const [id, by] of Object.entries(scenarios)) {
    if (id === 'observers-0' || by.sluice === undefined || by[name] === undefined) continue;
    const limit = id === 'observers-20' ? 3 : 1;
    add(`${id}: ahead of ${name}, time`, by[name].ns / by.sluice.ns, limit, 'times', true);
    add(`${id}: ahead of ${name}, bytes`, by[name].bytes / by.sluice.bytes, limit, 'times', true);
  }
  if (families[1000]?.sluice !== undefined)
    add('1,000 families against one', families[1000].sluice.ns / families[1].sluice.ns, 1.3, 'x');
  if (registration?.sluice !== undefined) {
    add('registering 10,000 handlers', registration.sluice.registeredMs, 100, 'ms of CPU');
    add('bytes per registered handler', registration.sluice.bytesEach, 300, 'B');
  }
  for (const [id, limit] of Object.entries({
    normalizeSession: 1,
    coderStream: 1,
    bridgeCsdk: 1.5,
  }))
    if (frames[id] !== undefined)
      add(`${id}, against JSON.parse of the lines`, frames[id].ns / frames.parse.ns, limit, 'x');
  const { callbacks } = figures;
  if (callbacks !== undefined) {
    add('reply callbacks, a piece at 32 KB', callbacks.short / 1_000, 10, 'µs of CPU');
    add('reply callbacks, a piece at 1 MB', callbacks.long / 1_000, 10, 'µs of CPU');
    const note = `${callbacks.long.toFixed(0)} ns against ${callbacks.short.toFixed(0)}`;
    add(
      'reply callbacks, a piece at 1 MB to one at 32 KB',
      callbacks.long / callbacks.short,
      2,
      'x',
      false,
      note,
    );
    if (callbacks.real !== undefined)
      add(
        'cheaper than the real ones, a piece of 1 MB to one of 32 KB',
        callbacks.real / callbacks.long,
        3,
        'x',
        true,
      );
  }
  return rows;
}
