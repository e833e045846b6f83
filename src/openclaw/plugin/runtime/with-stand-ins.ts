/**
 * An object whose missing members are those of a stand-in, which refuses.
 *
 * @param standIn is asked for when a member is missing: the plugin has touched it then.
 */
export function withStandIns<T extends object>(there: T, standIn: () => object): T {
  return new Proxy(there, {
    get: (target, key) => {
      if (key in target || typeof key === 'symbol' || key === 'then' || key === 'toJSON')
        return Reflect.get(target, key);
      return Reflect.get(standIn(), key);
    },
  });
}
