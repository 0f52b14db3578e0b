/** The answer of the merchants' endpoint to the next so many webhooks. */
export interface MerchantEndpointFault {
  readonly status: number;
  readonly times: number;
}

/** Deliberate faults, which apply to all payments. */
export interface FaultSettings {
  /** Whether callbacks are sent at all. */
  readonly callbacks: boolean;
  /** Whether every upstream endpoint resets its connections. */
  readonly outage: boolean;
  /** The delay before every upstream answer. */
  readonly latencyMs: number;
  readonly merchantEndpoint: MerchantEndpointFault | null;
}

/** A change of faults: absent keys stay, null resets. */
export type FaultChange = { readonly [Key in keyof FaultSettings]?: FaultSettings[Key] | null | undefined };

/** The faults in force. */
export interface Faults {
  readonly current: () => FaultSettings;
  readonly change: (change: FaultChange) => void;
  /** Uses up one refusal of the merchants' endpoint and gives its status; undefined if there is none. */
  readonly takeMerchantRefusal: () => number | undefined;
}

const none: FaultSettings = { callbacks: true, outage: false, latencyMs: 0, merchantEndpoint: null };

/** Builds the faults of one simulator, all of them off. */
export function createFaults(): Faults {
  let settings = none;
  return {
    current: () => settings,
    change: (change) => {
      settings = {
        callbacks: changed(change.callbacks, settings.callbacks, none.callbacks),
        outage: changed(change.outage, settings.outage, none.outage),
        latencyMs: changed(change.latencyMs, settings.latencyMs, none.latencyMs),
        merchantEndpoint: changed(change.merchantEndpoint, settings.merchantEndpoint, none.merchantEndpoint),
      };
    },
    takeMerchantRefusal: () => {
      const fault = settings.merchantEndpoint;
      if (fault === null || fault.times <= 0) return undefined;
      const times = fault.times - 1;
      settings = { ...settings, merchantEndpoint: times === 0 ? null : { ...fault, times } };
      return fault.status;
    },
  };
}

function changed<Value>(asked: Value | null | undefined, current: Value, initial: Value): Value {
  if (asked === undefined) return current;
  return asked ?? initial;
}
