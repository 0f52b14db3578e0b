/** A function that makes each value once, such as a formatter of `Intl`, which takes long to make; for few keys, as it forgets none. */
export function memoise<Key, Value extends object>(make: (key: Key) => Value): (key: Key) => Value {
  const made = new Map<Key, Value>();
  return (key) => {
    const value = made.get(key) ?? make(key);
    made.set(key, value);
    return value;
  };
}
