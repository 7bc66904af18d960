use pollux_protocol::ApprovalMode::{AutoEdit, Default, Plan, Yolo};
use pretty_assertions::assert_eq;

use super::*;

fn request() -> ApprovalRequest {
    ApprovalRequest {
        flag: None,
        yolo: false,
        setting: None,
        plan_enabled: true,
        yolo_disabled: false,
        secure_mode: false,
        trusted: true,
    }
}

fn mode(request: ApprovalRequest) -> ApprovalMode {
    resolve_approval(request).unwrap().mode
}

#[test]
fn the_order_of_the_sources() {
    let cases = [
        (request(), Default),
        (ApprovalRequest { setting: Some(AutoEdit), ..request() }, AutoEdit),
        (ApprovalRequest { setting: Some(Plan), ..request() }, Plan),
        (ApprovalRequest { setting: Some(Yolo), ..request() }, Default),
        (ApprovalRequest { setting: Some(Plan), yolo: true, ..request() }, Yolo),
        (ApprovalRequest { flag: Some(Default), setting: Some(Plan), ..request() }, Default),
        (ApprovalRequest { flag: Some(Yolo), ..request() }, Yolo),
        (ApprovalRequest { flag: Some(Plan), plan_enabled: false, ..request() }, Default),
        (ApprovalRequest { flag: Some(AutoEdit), trusted: false, ..request() }, Default),
        (ApprovalRequest { yolo: true, trusted: false, ..request() }, Default),
    ];
    for (request, expected) in cases {
        assert_eq!(mode(request), expected, "{request:?}");
    }
}

#[test]
fn yolo_is_refused_where_forbidden() {
    let yolo = ApprovalRequest { yolo: true, ..request() };
    let disabled = ApprovalRequest { yolo_disabled: true, ..yolo };
    assert_eq!(resolve_approval(disabled), Err(ApprovalModeError::DisabledBySetting));
    let secure = ApprovalRequest { secure_mode: true, ..yolo };
    assert_eq!(resolve_approval(secure), Err(ApprovalModeError::DisabledByAdministrator));
    // The restriction is reported even if the missing trust would have changed the mode.
    let untrusted = ApprovalRequest { trusted: false, ..disabled };
    assert!(resolve_approval(untrusted).is_err());
}

#[test]
fn messages() {
    let yolo = ApprovalRequest { yolo: true, ..request() };
    assert_eq!(
        resolve_approval(yolo).unwrap().messages,
        ["YOLO mode is enabled. All tool calls will be automatically approved."]
    );
    let untrusted = ApprovalRequest { flag: Some(Plan), trusted: false, ..request() };
    assert_eq!(
        resolve_approval(untrusted).unwrap().messages,
        ["Approval mode overridden to \"default\" because the current folder is not trusted."]
    );
    let yolo = ApprovalRequest { flag: Some(Yolo), ..untrusted };
    assert_eq!(
        resolve_approval(yolo).unwrap().messages,
        ["Approval mode overridden to \"default\" because the current folder is not trusted."],
        "yolo mode is not announced where it is off"
    );
    assert!(resolve_approval(request()).unwrap().messages.is_empty());
}
