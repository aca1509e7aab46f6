/** Makes a value once per object, and keeps it as long as the object lives. For what never changes. */

export function perObject<K extends object, V>(make: (of: K) => V): (of: K) => V {
  const made = new WeakMap<K, V>();
  return (of) => {
    let value = made.get(of);
    if (value === undefined && !made.has(of)) {
      value = make(of);
      made.set(of, value);
    }
    return value as V;
  };
}
