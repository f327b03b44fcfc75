/// <reference types="astro/client" />

declare namespace App {
  interface Locals {
    page: import("frontend-map-client").DocumentPage | import("frontend-map-client").PageOutside;
    locale: string;
  }
}
