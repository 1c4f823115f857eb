//! Models, and schemes with tolerances that differences need.

pub const OSCILLATOR: &str = r#"
version = 1
name = "oscillator"
[parameters]
al = 0.05
om = 2.8
k = 1.0
e = 0.7
um = 0.0
[model]
kind = "linear"
coordinates = ["u"]
mass = [[1]]
damping = [["2*al"]]
stiffness = [["k"]]
force.u = "cos(om*t)"
[[contact]]
name = "wall"
gap = "u - um"
restitution = "e"
[initial]
u = 0.5
[simulation]
end = 1
step = 0.1
"#;

/// A cart with a pendulum between a wall that moves and one that the tip meets: mass, gaps and forces are nonlinear.
pub const CART: &str = r#"
version = 1
name = "cart and pendulum"
[parameters]
m = 0.7
L = 0.8
k = 3.0
c = 0.2
a = 1.5
om = 2.1
d = 0.35
w = 0.6
e1 = 0.8
e2 = "e1 - 0.2"
[model]
kind = "lagrangian"
coordinates = ["x", "th"]
kinetic = "x'^2/2 + m/2*(x'^2 + 2*L*x'*th'*cos(th) + L^2*th'^2)"
potential = "k/2*x^2 + k/10*x^4 - 9.81*m*L*cos(th)"
force.x = "a*cos(om*t) - c*x'"
force.th = "-0.05*th'*abs(th')"
[[contact]]
name = "cart"
gap = "x + d + 0.05*sin(3*t)"
restitution = "e1"
[[contact]]
name = "tip"
gap = "w - x - L*sin(th)"
restitution = "e2"
[initial]
x = 0
[simulation]
end = 1
step = 0.1
"#;

/// A block on a curved floor under a force that makes it slide, stick and turn back, before a wall.
pub const BLOCK: &str = r#"
version = 1
name = "block"
[parameters]
mu = 0.3
a = 6.0
om = 3.0
e = 0.6
[model]
kind = "lagrangian"
coordinates = ["x", "y"]
kinetic = "(x'^2 + y'^2)/2"
potential = "10*y + x^2/2"
force.x = "a*sin(om*t) + 0.5*sin(x)"
force.y = "2*cos(om*t)"
[[contact]]
name = "floor"
gap = "y - 0.1*x^2"
slip = "x"
friction = "mu"
restitution = "e/2"
[[contact]]
name = "wall"
gap = "0.8 - x"
restitution = "e"
[initial]
"x'" = 1.5
[simulation]
end = 1
step = 0.1
"#;

/// A particle on a curved floor with spatial friction, in a well that bends its slip.
pub const PARTICLE: &str = r#"
version = 1
name = "particle"
[parameters]
mu = 0.25
e = 0.5
k = 5.0
[model]
kind = "lagrangian"
coordinates = ["x", "y", "z"]
kinetic = "(x'^2 + 2*y'^2 + z'^2)/2"
potential = "10*z + 2*x^2 + k*y^2"
[[contact]]
name = "floor"
gap = "z - 0.1*x*y"
slip = ["x", "y"]
friction = "mu"
restitution = "e"
[initial]
z = 0.3
[simulation]
end = 1
step = 0.1
"#;

/// A pendulum in Cartesian coordinates before a wall: a bilateral constraint and a contact.
pub const PENDULUM: &str = r#"
version = 1
name = "pendulum"
[parameters]
L = 1.0
g = 9.81
e = 0.7
[model]
kind = "lagrangian"
coordinates = ["x", "y"]
kinetic = "(x'^2 + 1.5*y'^2)/2"
potential = "g*y"
[[constraint]]
name = "rod"
value = "x^2 + y^2 - L^2"
[[contact]]
name = "wall"
gap = "x + 0.3"
restitution = "e"
[initial]
x = 1
[simulation]
end = 1
step = 0.1
"#;

/// A sphere with rolling and spinning friction on a floor, in a well that bends its way.
pub const SPHERE: &str = r#"
version = 1
name = "sphere"
[parameters]
r = 0.3
mu = 0.2
roll = 0.03
spin = 0.02
e = 0.4
k = 2.0
[model]
kind = "lagrangian"
coordinates = ["x", "y", "z", "a", "b", "c"]
kinetic = "(x'^2 + y'^2 + z'^2)/2 + r^2/5*(a'^2 + b'^2 + c'^2)"
potential = "10*z + k*x^2/2 + k*y^2"
[[contact]]
name = "floor"
gap = "z"
friction = "mu"
slip = ["x - r*b", "y + r*a"]
rolling = "roll"
spinning = "spin"
turning = ["a", "b", "c"]
restitution = "e"
[initial]
z = 0.1
[simulation]
end = 1
step = 0.1
"#;

/// Step of differences for the cart, whose drag has a kink in its slope at rest.
pub const REACH: f64 = 3e-6;

pub const MOREAU_JEAN: &str = r#"{ name = "moreau-jean", newton-tolerance = 1e-14 }"#;

pub const SCHATZMAN_PAOLI: &str = r#"{ name = "schatzman-paoli", newton-tolerance = 1e-14 }"#;

pub fn corrected(variant: &str) -> String {
    // the gap at an impact is met to a tenth of the activation, which differences would see
    format!(r#"{{ name = "corrected-paoli", variant = "{variant}", activation = 1e-13, newton-tolerance = 1e-14 }}"#)
}
