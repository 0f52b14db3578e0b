export {
  type AddressRefusal,
  AddressRefusedError,
  addressProblems,
  checkAddress,
  createGuardedLookup,
  isPublicHost,
  readHttpUrl,
} from './address-guard.ts';
export { type AddressList, createAddressList } from './address-list.ts';
export { clientAddress, type TrustedProxies } from './client-address.ts';
export { createNameResolver, NameUnresolvedError, type ResolveName } from './name-resolver.ts';
export {
  addressRangeSetting,
  proxySettings,
  readTrustedProxies,
  refuseOriginsInProduction,
  webhookAddressSettings,
} from './settings.ts';
