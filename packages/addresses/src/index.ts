export {
  type AddressRefusal,
  AddressRefusedError,
  type CheckedAddress,
  checkAddress,
  createGuardedLookup,
  isPublicHost,
} from './address-guard.ts';
export { type AddressList, createAddressList } from './address-list.ts';
export { clientAddress } from './client-address.ts';
export {
  addressRangeSetting,
  addressRangesSetting,
  refuseOriginsInProduction,
  webhookAddressSettings,
} from './settings.ts';
