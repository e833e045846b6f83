// Sets the clock of the process that it is imported into before all else: by a day, or to and fro by a day if it steps.
const dayMs = 86_400_000;
const { CLOCK } = process.env;
const Right = globalThis.Date;
const startedMs = Right.now();
const shiftMs = () => {
  if (CLOCK !== 'steps') return CLOCK === 'early' ? -dayMs : dayMs;
  return Math.floor((Right.now() - startedMs) / 300) % 2 === 0 ? dayMs : -dayMs;
};
globalThis.Date = class extends Right {
  constructor(...given) {
    if (given.length === 0) super(Right.now() + shiftMs());
    else super(...given);
  }

  static now() {
    return Right.now() + shiftMs();
  }
};
