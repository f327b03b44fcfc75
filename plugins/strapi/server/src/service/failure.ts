import type { Failure } from '../../../shared/failures';

/** The service did not send a response that can be used. */
export class ServiceFailure extends Error {
  constructor(readonly failure: Failure) {
    super(failure);
  }
}
