export { HoldfastError } from '../contract/plain/errors';
