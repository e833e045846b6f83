/**
 * A handler of any class as a step over one mutable state, for runners that know no classes.
 *
 * @returns a step that returns `true` where it cancels, for runners that stop at a value.
 */
export function applyTo({ class: name, handler }) {
  return (state) => {
    if (state.cancel !== undefined) return true;
    const result = handler(state.payload);
    if (result === undefined) return undefined;
    if (name === 'mutator') Object.assign(state.payload, result);
    else if (name === 'augmenter') Object.assign(state.annotations, result);
    else if (name === 'resolver') state.selection = result;
    else if (name === 'veto') {
      state.cancel = result;
      return true;
    }
    return undefined;
  };
}
