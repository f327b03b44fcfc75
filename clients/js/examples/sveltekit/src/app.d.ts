declare namespace App {
  interface Locals {
    page: import("frontend-map-client").Resolution<"main">;
  }
}
